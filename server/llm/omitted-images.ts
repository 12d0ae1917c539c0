// The notes that replace images of messages when the model does not get them.
import { oncePer } from '../lib/once-per.ts'
import type { LlmMessage, ModelImage } from './client.ts'

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
