// What the image process returns, and its limits.
import { z } from 'zod'

/** Pixels of an image, and of all frames of an animation that has to be written anew. */
export const MAX_IMAGE_PIXELS = 64_000_000
/** Longest side of a stored image: no model looks at more. */
export const MAX_SIDE_PIXELS = 4_096
export const THUMBNAIL_SIDE_PIXELS = 640

/** A decoded image as it is stored. */
export const ImageResult = z.object({
  mime: z.string(),
  width: z.int().min(1),
  height: z.int().min(1),
  /** The image was written anew, without metadata; otherwise the input is stored as it is. */
  replaced: z.boolean(),
})
/** What the worker thread found out about an image. */
export type ImageResult = z.infer<typeof ImageResult>

/** The path of the thumbnail (WebP) of an output. */
export const thumbnailOf = (output: string): string => `${output}.thumbnail`
