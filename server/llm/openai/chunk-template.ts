// Reads a content chunk without parsing it if it differs from an earlier chunk only in the text.

/** The line that most chunks of a stream share, except for a few varying characters. */
export interface ChunkTemplate {
  /**
   * Returns the content of the line `text` from `from` to `to`; undefined if the line does not match and must be parsed.
   */
  match(text: string, from: number, to: number): string | undefined
  /** Learns from a parsed line. Its chunk must contain only this text. */
  learn(line: string, content: string): void
}

/** Stops learning after this many lines, because some providers send a random field in each. */
const MAX_LESSONS = 4

/**
 * Safe, because a matching line differs from a parsed one only inside one JSON string, in text without quotes, backslashes
 * and control characters.
 */
export function createChunkTemplate(field: 'content' | 'reasoning_content'): ChunkTemplate {
  let prefix = ''
  let suffix = ''
  let lessons = 0
  return {
    match(text, from, to) {
      const start = from + prefix.length
      const end = to - suffix.length
      if (prefix === '' || start > end) return undefined
      if (!text.startsWith(suffix, end) || !text.startsWith(prefix, from)) return undefined
      const content = text.slice(start, end)
      return isPlain(content) ? content : undefined
    },
    learn(line, content) {
      if (lessons >= MAX_LESSONS || content === '' || !isPlain(content)) return
      lessons += 1
      const at = line.indexOf(`"${content}"`)
      if (at === -1) return
      const before = line.slice(0, at + 1)
      const after = line.slice(at + 1 + content.length)
      // The same text may occur elsewhere in the line, so check that this occurrence is the content.
      const probe = `${before}probe-${content}${after}`
      if (deltaField(probe, field) !== `probe-${content}`) return
      prefix = before
      suffix = after
    },
  }
}

function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 0x22 || code === 0x5c || code < 0x20) return false
  }
  return true
}

function deltaField(line: string, field: string): unknown {
  try {
    // The line may have any shape. If a level is missing, this throws, and the line does not match.
    const parsed = JSON.parse(line) as { choices: { delta: Record<string, unknown> }[] }
    return parsed.choices[0]?.delta[field]
  } catch {
    return undefined
  }
}
