// The result of the image process, and its limits.
import { z } from 'zod'

/** Maximum number of pixels of an image; for an animation that must be rewritten, of all frames together. */
export const MAX_IMAGE_PIXELS = 64_000_000
/** Longest side of a stored image. No model uses a larger one. */
export const MAX_SIDE_PIXELS = 4_096
export const THUMBNAIL_SIDE_PIXELS = 640
/**
 * Longest side of a picture that a tool returns. Anthropic refuses larger ones in requests with more than 20 images:
 * https://docs.anthropic.com/en/docs/build-with-claude/vision.
 */
export const MAX_RESULT_SIDE_PIXELS = 2_000

/** A decoded image as it is stored. */
export const ImageResult = z.object({
  mime: z.string(),
  width: z.int().min(1),
  height: z.int().min(1),
  /** Whether the image was rewritten without metadata; otherwise, the input is stored unchanged. */
  replaced: z.boolean(),
  /** The size of the picture before it was scaled down. */
  original: z.object({ width: z.int().min(1), height: z.int().min(1) }),
})
/** What the child process found out about an image. */
export type ImageResult = z.infer<typeof ImageResult>

/** The path of the thumbnail (WebP) of an output. */
export const thumbnailOf = (output: string): string => `${output}.thumbnail`
