// Estimates the tokens of a text: one rule for the server, where providers report no usage, and for the page, before a message is sent.

/**
 * Estimated tokens of a text, not rounded, so that pieces add up: about four characters per token, and nearly one token per
 * Chinese, Japanese or Korean character. Within 25 % of real tokenizers for prose, less accurate for code and numbers. Long
 * text is sampled, so the cost is bounded.
 */
export function tokenWeight(text: string): number {
  const step = Math.max(1, Math.floor(text.length / 4096))
  let wide = 0
  let seen = 0
  for (let index = 0; index < text.length; index += step) {
    seen += 1
    if (text.charCodeAt(index) >= 0x2e80) wide += 1
  }
  if (seen === 0) return 0
  const share = wide / seen
  return text.length * (share * 0.8 + (1 - share) / 4)
}

/** `tokenWeight`, rounded up. */
export const estimateTokens = (text: string): number => Math.ceil(tokenWeight(text))
