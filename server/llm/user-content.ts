// A user message as a model can read it, before a client puts it into the form of its API.
import type { LlmMessage } from './client.ts'
import { withDocumentTexts } from './documents.ts'
import { withImagesNote } from './omitted-images.ts'

type UserMessage = Extract<LlmMessage, { role: 'user' }>

/** A user message as one model can read it. */
export interface ReadableContent {
  /** With what the server adds before it, and with what stands for the files that are not sent. */
  text: string
  /** The images to send: none to a model without vision. */
  images: NonNullable<UserMessage['images']>
  /** The PDF files to send: none to a model that reads no PDF. */
  documents: NonNullable<UserMessage['documents']>
}

/** Documents that the model cannot read are sent as their texts, and a note says how many images are missing. */
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
