// Decides what is mathematics: models write `\(x\)` and `$x$`, people write "$5 and $10".

const fencedOrCode = /(`+)[\s\S]*?\1/g

/**
 * `\(…\)` and `\[…\]` become dollar signs; a dollar that is money is escaped (the rule of pandoc: an opening one
 * has no space after it, a closing one none before it and no digit after it).
 */
function markMath(text: string): string {
  const converted = text
    .replace(/\\\[([\s\S]+?)\\\]/g, (_all, body: string) => `\n$$\n${body.trim()}\n$$\n`)
    // On a line of its own it is a displayed formula.
    .replace(/^[ \t]*\$\$([^\n$]+)\$\$[ \t]*$/gm, (_all, body: string) => `$$\n${body.trim()}\n$$`)
    .replace(/\\\(([\s\S]+?)\\\)/g, (_all, body: string) => `$${body.trim()}$`)
  return converted.replace(
    /\$\$[\s\S]*?\$\$|\\\$|\$(?!\s)([^$\n]*?[^\s\\$])\$(?!\d)|\$/g,
    (all: string) => (all === '$' ? '\\$' : all),
  )
}

export const mayHoldMath = (text: string): boolean => /\$|\\\(|\\\[/.test(text)

/** The text with its mathematics marked; code is left as it is. */
export function prepareMath(text: string): string {
  let out = ''
  let from = 0
  for (const match of text.matchAll(fencedOrCode)) {
    out += markMath(text.slice(from, match.index)) + match[0]
    from = match.index + match[0].length
  }
  return out + markMath(text.slice(from))
}
