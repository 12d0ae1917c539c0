// The code in a text that a person wrote: between backticks in a line, or fenced.

/** A part of a text, without the marks of code around it. */
type Part = { kind: 'text' | 'inLine' | 'block'; text: string }

const CODE =
  /^(`{3,})[^`\n]*\n([\s\S]*?)\n?^\1[ \t]*$\n?|(?<!`)(`{1,2})(?!`)([^\n]*?[^`\n])\3(?!`)/gm

/** Splits a text at its code. What is not closed stays as it is written. */
export function codeParts(text: string): Part[] {
  const parts: Part[] = []
  let end = 0
  for (const { 0: whole, index, 2: block, 4: inLine } of text.matchAll(CODE)) {
    if (index > end) parts.push({ kind: 'text', text: text.slice(end, index) })
    parts.push(
      block === undefined ? { kind: 'inLine', text: inLine ?? '' } : { kind: 'block', text: block },
    )
    end = index + whole.length
  }
  if (end < text.length) parts.push({ kind: 'text', text: text.slice(end) })
  return parts
}
