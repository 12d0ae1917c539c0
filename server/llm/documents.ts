// PDF files of a message: sent as they are to models that read PDF, as text to all others.
import { framedText } from '../lib/framed-text.ts'

/** A PDF that is sent to models which read PDF, with its text for those that do not. */
export interface Document {
  name: string
  /** The PDF as base64. */
  data: string
  pages: number
  /** What could be read from it here. */
  text: string
}

/** The content with the texts of the documents behind it. */
export const withDocumentTexts = (content: string, documents: readonly Document[]): string =>
  documents.length === 0
    ? content
    : [content, ...documents.map(({ name, text }) => framedFile(name, text))]
        .join('\n\n')
        .trimStart()

/** The text of a file as a model sees it. */
export const framedFile = (name: string, text: string): string =>
  framedText('file', text, ` name=${JSON.stringify(name)}`)
