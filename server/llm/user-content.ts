// What of a user message, its documents and the images of results a model can read; notes stand for the rest.
import { framedText } from '../lib/framed-text.ts'
import { oncePer } from '../lib/once-per.ts'
import type { Document, LlmMessage, ModelImage } from './client.ts'

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

/** Appends the note to the text of a message. */
export const withImagesNote = (content: string, images: number): string =>
  `${content}\n\n[${images} attached image(s) omitted: this model does not accept images]`.trimStart()

/** Appends a note to a tool result whose images are not sent. */
export const withoutResultImages = (content: string, images: number, why: string): string =>
  `${content}\n[${images} image(s) of this result omitted: ${why}]`

type ToolMessage = Extract<LlmMessage, { role: 'tool' }>

/** The part of a tool result that a model can read. */
export function readableResult(
  { content, images = [] }: ToolMessage,
  vision: boolean,
): { text: string; images: readonly ModelImage[] } {
  return vision || images.length === 0
    ? { text: content, images }
    : {
        text: withoutResultImages(content, images.length, 'this model does not accept images'),
        images: [],
      }
}

/** Images of tool results in one request. */
const MAX_RESULT_IMAGES = 20
/** Images are omitted this many at a time, so that requests do not begin differently with each new image. */
const IMAGES_AT_ONCE = 10
/** Characters of base64. */
const MAX_RESULT_DATA = 16_000_000

/**
 * The messages with at most 20 images of tool results, the newest; older results say that theirs are omitted. The newest
 * result keeps its images, however large: the model has not seen them yet.
 */
export function withNewestImages(messages: readonly LlmMessage[]): readonly LlmMessage[] {
  const sizes = messages.flatMap((message) =>
    message.role === 'tool' ? (message.images ?? []).map(({ data }) => data.length) : [],
  )
  let omitted = 0
  let left = sizes.reduce((sum, size) => sum + size, 0)
  while (sizes.length - omitted > MAX_RESULT_IMAGES || left > MAX_RESULT_DATA) {
    left -= sizes.slice(omitted, omitted + IMAGES_AT_ONCE).reduce((sum, size) => sum + size, 0)
    omitted += IMAGES_AT_ONCE
  }
  if (omitted === 0) return messages
  const newest = messages.findLast(
    (message) => message.role === 'tool' && (message.images ?? []).length > 0,
  )
  let seen = 0
  return messages.map((message) => {
    if (message.role !== 'tool' || message.images === undefined) return message
    seen += message.images.length
    // The images of one result stay together.
    return seen > omitted || message === newest ? message : withOldImagesOmitted(message)
  })
}

const withOldImagesOmitted = oncePer((message: ToolMessage): ToolMessage => {
  const { images = [], ...rest } = message
  const why = 'newer images take its place'
  return { ...rest, content: withoutResultImages(message.content, images.length, why) }
})
