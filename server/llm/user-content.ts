// Converts a user message to what a model can read, before a client puts it into the form of its API.
import type { LlmMessage } from './client.ts'
import { withDocumentTexts } from './documents.ts'
import { withImagesNote } from './omitted-images.ts'

type UserMessage = Extract<LlmMessage, { role: 'user' }>

/** The part of a user message that one model can read. */
export interface ReadableContent {
  /** Includes what the server adds before it, and replacements for files that are not sent. */
  text: string
  /** The images to send; empty for a model without vision. */
  images: NonNullable<UserMessage['images']>
  /** The PDF files to send; empty for a model that reads no PDF files. */
  documents: NonNullable<UserMessage['documents']>
}

/** Sends documents that the model cannot read as text, and adds a note with the number of missing images. */
export function readableContent(
  { context, content, images = [], documents = [] }: UserMessage,
  { vision, pdf }: { vision: boolean; pdf: boolean },
): ReadableContent {
  const body = pdf ? content : withDocumentTexts(content, documents)
  const plain = context === undefined ? body : `${context}\n\n${body}`.trimEnd()
  return {
    text: vision || images.length === 0 ? plain : withImagesNote(plain, images.length),
    images: vision ? images : [],
    documents: pdf ? documents : [],
  }
}
