// The whole text of a document, as a model reads it.
import type { DescribedFailure } from '../protocol/failures/stored.ts'

/** More characters than any context window can hold. */
const MAX_WHOLE_TEXT_CHARACTERS = 2_000_000

/** The text of a document as a model reads it: a line marks the start of each page. */
export interface DocumentText {
  /** At most `MAX_WHOLE_TEXT_CHARACTERS`, without NUL characters, which PostgreSQL cannot store. */
  text: string
  /** Number of characters of the whole text. */
  characters: number
  /** Number of pages of a PDF, slides or sheets; null for other formats. */
  pages: number | null
  /** For a person: what could not be read although there is a text, such as pages that are pictures. */
  failure: DescribedFailure | null
  /** The encoding that the bytes were read in, by its name in the Encoding Standard; null for formats that say it themselves. */
  encoding: string | null
}

/** The beginning of a text, as far as it may be stored, and the length of the whole text. */
export function boundedText(text: string): Pick<DocumentText, 'text' | 'characters'> {
  const clean = text.replaceAll('\0', '')
  return { text: clean.slice(0, MAX_WHOLE_TEXT_CHARACTERS), characters: clean.length }
}
