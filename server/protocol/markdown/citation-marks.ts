// Finds citations such as `[1]` and `[2, 3]` in a text, and quotes such as `[c1]`.

const CITATION_MARK = /(?:\[|【)(\d{1,3}(?:\s?[,，、]\s?\d{1,3}){0,9})(?:\]|】)/g

/** Whether a text may hold citations; cheap, for texts that grow. */
export const mayCite = (text: string): boolean => /[[【]\d/.test(text)

/** The pieces of a text: strings as written, and lists of the source numbers that it cites there. */
export function splitCitations(text: string, count: number): (string | number[])[] {
  const pieces: (string | number[])[] = []
  let kept = 0
  for (const found of text.matchAll(CITATION_MARK)) {
    const numbers = (found[1] ?? '').split(/[,，、]/).map(Number)
    // A number without a source is text, such as an index.
    if (!numbers.every((number) => number >= 1 && number <= count)) continue
    if (found.index > kept) pieces.push(text.slice(kept, found.index))
    pieces.push(numbers)
    kept = found.index + found[0].length
  }
  if (kept < text.length) pieces.push(text.slice(kept))
  return pieces
}

const QUOTE_MARK = /\[(c\d{1,6})\]/g

/** Whether a text may hold marks of quotes. */
export const mayQuote = (text: string): boolean => text.includes('[c')

/** The pieces of a text: strings as written, and the ids of the quotes that it refers to there. */
export function splitQuotes(text: string): (string | { id: string })[] {
  const pieces: (string | { id: string })[] = []
  let kept = 0
  for (const { 0: mark, 1: id = '', index } of text.matchAll(QUOTE_MARK)) {
    if (index > kept) pieces.push(text.slice(kept, index))
    pieces.push({ id })
    kept = index + mark.length
  }
  if (kept < text.length) pieces.push(text.slice(kept))
  return pieces
}
