// Pictures in tool results: how tools get them prepared, and how models and people receive them.
import type { ModelImage } from '../llm/client.ts'

/** A picture as it can be shown to people and models: decoded once, without metadata, and not too large. */
export interface PreparedImage {
  mime: string
  width: number
  height: number
  bytes: Uint8Array
  /** What the picture was before it was prepared. */
  original: { mime: string; width: number; height: number }
}

/** Prepares a picture; null if it cannot be read. `owner`: the user whose turn it takes. */
export type PrepareImage = (
  bytes: Uint8Array,
  owner: string | null,
) => Promise<PreparedImage | null>

/** Providers refuse larger images. */
export const MAX_RESULT_IMAGE_BYTES = 3_500_000

/** A picture as a file of the artifact. A type, not an interface: artifacts accept only what is known to be JSON. */
export type ResultImageFile = {
  name: string
  mime: string
  size: number
  data: string
  for_model: true
}

/** The picture as models receive it, and as a file of the artifact, where it is stored for later requests. */
export function imageOfResult(
  name: string,
  { mime, bytes }: PreparedImage,
): { image: ModelImage; file: ResultImageFile } {
  const data = Buffer.from(bytes).toString('base64')
  return {
    image: { mime, data },
    file: {
      name,
      mime,
      size: bytes.byteLength,
      data: `data:${mime};base64,${data}`,
      for_model: true,
    },
  }
}
