// The whole text of a document, as a model reads it.

/** More than any context window holds. */
const MAX_WHOLE_TEXT_CHARACTERS = 2_000_000

/** The text of a document as a model reads it: a line marks the start of each page. */
export interface DocumentText {
  /** At most `MAX_WHOLE_TEXT_CHARACTERS`, without NUL characters, which PostgreSQL cannot store. */
  text: string
  /** Of the whole text. */
  characters: number
  /** Pages of a PDF, slides or sheets; null elsewhere. */
  pages: number | null
}

/** The beginning of a text that may be stored, and its whole length. */
export function boundedText(text: string): Pick<DocumentText, 'text' | 'characters'> {
  const clean = text.replaceAll('\0', '')
  return { text: clean.slice(0, MAX_WHOLE_TEXT_CHARACTERS), characters: clean.length }
}
