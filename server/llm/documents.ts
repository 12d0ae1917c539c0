// PDF files of a message: sent as files to models that read PDF, as text to all others.
import { framedText } from '../lib/framed-text.ts'

/** A PDF for models that read PDF files, with its text for those that do not. */
export interface Document {
  name: string
  /** The PDF as base64. */
  data: string
  pages: number
  /** The text that the server extracted from it. */
  text: string
}

/** Appends the texts of the documents to the content. */
export const withDocumentTexts = (content: string, documents: readonly Document[]): string =>
  documents.length === 0
    ? content
    : [content, ...documents.map(({ name, text }) => framedFile(name, text))]
        .join('\n\n')
        .trimStart()

/** The text of a file as a model sees it. */
export const framedFile = (name: string, text: string): string =>
  framedText('file', text, ` name=${JSON.stringify(name)}`)
