// Decodes photos of phones (HEIC with HEVC), which the image library is built without. Only for the image process.
import { readFile } from 'node:fs/promises'
import { MAX_IMAGE_PIXELS } from './image-result.ts'

/** Upright pixels, four bytes each (RGBA). */
export interface Pixels {
  data: Uint8ClampedArray
  raw: { width: number; height: number; channels: 4 }
}

/** @throws for damaged images and for more pixels than allowed. */
export async function decodeHevc(file: string): Promise<Pixels> {
  // Loading it is a third of the work of an image process, and few images need it.
  const { default: libheif } = await import('libheif-js/wasm-bundle.js')
  const images = new libheif.HeifDecoder().decode(await readFile(file))
  const image = images.find((one) => one.is_primary()) ?? images[0]
  if (image === undefined) throw new Error('no image in the file')
  const [width, height] = [image.get_width(), image.get_height()]
  if (width * height > MAX_IMAGE_PIXELS) throw new Error('the image has too many pixels')
  const data = new Uint8ClampedArray(width * height * 4)
  await new Promise<void>((done, fail) => {
    image.display({ data, width, height }, (result) =>
      result === null ? fail(new Error('the image cannot be decoded')) : done(),
    )
  })
  return { data, raw: { width, height, channels: 4 } }
}
