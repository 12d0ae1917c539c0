// Decodes an image with libvips. Only for the child process: a hostile image may take all of its time and memory.
import { readFile } from 'node:fs/promises'
import sharp, { type Metadata, type Sharp } from 'sharp'
import {
  type ImageResult,
  MAX_IMAGE_PIXELS,
  MAX_RESULT_SIDE_PIXELS,
  MAX_SIDE_PIXELS,
  THUMBNAIL_SIDE_PIXELS,
  thumbnailOf,
} from './image-result.ts'

// Finds bytes in an image file that no decoder draws: comments, blocks of cameras and programs, and bytes after the end.

/** Formats that are stored unchanged, because browsers and models support them. */
export const KEPT_FORMATS = ['png', 'jpeg', 'webp', 'gif'] as const
/** Image formats that can be stored as uploaded. */
type KeptFormat = (typeof KEPT_FORMATS)[number]

/**
 * Whether an image holds more than its picture and colours. libvips reports EXIF, IPTC, XMP and the texts of PNG files, but
 * neither comments nor blocks that it does not know, nor what is appended. Also true for a file that violates its format.
 */
export function hasExtraBytes(format: KeptFormat, bytes: Buffer): boolean {
  try {
    return endOfPicture[format](bytes) !== bytes.length
  } catch (error) {
    // Reading beyond the end: the file is shorter than it says.
    if (error instanceof RangeError) return true
    throw error
  }
}

/** The end of the picture; null as soon as anything else is found in it. */
const endOfPicture: Record<KeptFormat, (bytes: Buffer) => number | null> = {
  jpeg(bytes) {
    for (let index = 2; ; ) {
      // Data of the picture, which ends at a marker: 0xff not followed by 0, another 0xff or a restart marker.
      index = bytes.indexOf(0xff, index)
      if (index === -1) return null
      const marker = bytes.readUInt8(index + 1)
      if (marker === 0xd9) return index + 2
      if (marker === 0 || marker === 0xff || (marker >= 0xd0 && marker <= 0xd7)) {
        index += marker === 0xff ? 1 : 2
        continue
      }
      if (!isJpegSegment(marker, bytes.toString('latin1', index + 4, index + 16))) return null
      index += 2 + bytes.readUInt16BE(index + 2)
    }
  },

  png(bytes) {
    for (let index = 8; ; ) {
      const type = bytes.toString('latin1', index + 4, index + 8)
      index += 12 + bytes.readUInt32BE(index)
      if (type === 'IEND') return index
      // Chunks whose name begins with a capital letter are needed to draw the picture.
      if (!/^[A-Z]/.test(type) && !PNG_CHUNKS.has(type)) return null
    }
  },

  webp(bytes) {
    const end = 8 + bytes.readUInt32LE(4)
    for (let index = 12; index < end; ) {
      if (!WEBP_CHUNKS.has(bytes.toString('latin1', index, index + 4))) return null
      const size = bytes.readUInt32LE(index + 4)
      index += 8 + size + (size % 2)
    }
    return end
  },

  gif(bytes) {
    const colorTable = (flags: number): number =>
      (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1)
    for (let index = 13 + colorTable(bytes.readUInt8(10)); ; ) {
      const block = bytes.readUInt8(index)
      if (block === 0x3b) return index + 1
      if (block === 0x2c) index += 11 + colorTable(bytes.readUInt8(index + 9))
      else if (block === 0x21 && isGifExtension(bytes, index)) index += 2
      else return null
      for (let size = bytes.readUInt8(index); size > 0; size = bytes.readUInt8(index))
        index += 1 + size
      index += 1
    }
  },
}

/** Tables and scans of the picture, and of the segments of applications those that say how its colours are meant. */
const isJpegSegment = (marker: number, content: string): boolean =>
  marker === 0xee
    ? content.startsWith('Adobe')
    : marker === 0xe2
      ? content.startsWith('ICC_PROFILE\0')
      : marker === 0xe0
        ? content.startsWith('JFIF\0')
        : marker >= 0xc0 && marker <= 0xdf

const PNG_CHUNKS = new Set(
  'tRNS gAMA cHRM sRGB iCCP cICP mDCV cLLI sBIT bKGD hIST pHYs sPLT acTL fcTL fdAT'.split(' '),
)
const WEBP_CHUNKS = new Set(['VP8 ', 'VP8L', 'VP8X', 'ALPH', 'ANIM', 'ANMF', 'ICCP'])

/** How long a frame is shown, how often an animation repeats, and colours. */
const isGifExtension = (bytes: Buffer, index: number): boolean =>
  bytes.readUInt8(index + 1) === 0xf9 ||
  (bytes.readUInt8(index + 1) === 0xff &&
    ['NETSCAPE2.0', 'ANIMEXTS1.0', 'ICCRGBG1012'].includes(
      bytes.toString('latin1', index + 3, index + 14),
    ))

// Decodes photos of phones (HEIC with HEVC), which the image library is built without. Only for the image process.

/** Upright pixels, four bytes each (RGBA). */
interface Pixels {
  data: Uint8ClampedArray
  raw: { width: number; height: number; channels: 4 }
}

/** @throws for damaged images and for more pixels than allowed. */
async function decodeHevc(file: string): Promise<Pixels> {
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

// One image per process, so a cache would only use memory.
sharp.cache(false)
sharp.concurrency(1)
// Allows only the formats that `sniff` accepts, and no other that libvips could open.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({
  operation: [
    'VipsForeignLoadPng',
    'VipsForeignLoadJpeg',
    'VipsForeignLoadWebp',
    'VipsForeignLoadNsgif',
    'VipsForeignLoadHeif',
  ],
})

const OPTIONS = { failOn: 'error', limitInputPixels: MAX_IMAGE_PIXELS } as const

/**
 * Writes the thumbnail. Also writes the image if it has metadata or other bytes besides the picture, is too large, or has a
 * rare format.
 * @param output prefix of the paths of both.
 * @throws what libvips throws for damaged images and for too many pixels.
 */
export async function processImage(input: string, output: string): Promise<ImageResult> {
  const found = await sharp(input, OPTIONS).metadata()
  if (found.compression === 'hevc') return await processHevc(input, output, found)
  const { width, height } = found.autoOrient
  const format: KeptFormat =
    KEPT_FORMATS.find((one) => one === found.format) ?? (found.hasAlpha ? 'png' : 'jpeg')
  await writeThumbnail(sharp(input, OPTIONS).autoOrient(), output)

  const asItIs =
    format === found.format &&
    Math.max(width, height) <= MAX_SIDE_PIXELS &&
    !hasMetadata(found) &&
    !hasExtraBytes(format, await readFile(input))
  const original = { width, height }
  if (asItIs) return { mime: `image/${format}`, width, height, replaced: false, original }
  const animated = (found.pages ?? 1) > 1
  const image = sharp(input, { ...OPTIONS, animated })
  // Frames of an animation cannot be turned one by one.
  const upright = animated ? image : image.autoOrient()
  const {
    width: newWidth,
    height: total,
    pageHeight,
  } = await upright
    .resize(MAX_SIDE_PIXELS, MAX_SIDE_PIXELS, { fit: 'inside', withoutEnlargement: true })
    .toFormat(format, format === 'png' || format === 'gif' ? {} : { quality: 90 })
    .toFile(output)
  return {
    mime: `image/${format}`,
    width: newWidth,
    height: pageHeight ?? total,
    replaced: true,
    original,
  }
}

/** Larger pictures of tools are compressed again. */
const MAX_RESULT_BYTES = 1_000_000

/**
 * Writes the picture of a tool result as models receive it, unless it can stay as it is: small, in a common format, and
 * without anything besides the picture.
 * @throws what libvips throws for damaged images and for too many pixels.
 */
export async function processResultImage(input: string, output: string): Promise<ImageResult> {
  const found = await sharp(input, OPTIONS).metadata()
  const { width, height } = found.autoOrient
  const original = { width, height }
  const format = KEPT_FORMATS.find((one) => one === found.format)
  const bytes = await readFile(input)
  const isSmall =
    bytes.length <= MAX_RESULT_BYTES && Math.max(width, height) <= MAX_RESULT_SIDE_PIXELS
  if (format !== undefined && isSmall && !hasMetadata(found) && !hasExtraBytes(format, bytes)) {
    // Providers refuse the whole request for a damaged image, so that its pixels are read once.
    await sharp(input, OPTIONS).resize(1, 1).toBuffer()
    return { mime: `image/${format}`, width, height, replaced: false, original }
  }
  const image = (await openImage(input, found)).resize(
    MAX_RESULT_SIDE_PIXELS,
    MAX_RESULT_SIDE_PIXELS,
    {
      fit: 'inside',
      withoutEnlargement: true,
    },
  )
  const smaller = isSmall && format === 'png' ? image.png() : image.webp({ quality: 85 })
  const written = await smaller.toFile(output)
  return {
    mime: `image/${written.format}`,
    width: written.width,
    height: written.height,
    replaced: true,
    original,
  }
}

/** The upright pixels of an image. */
async function openImage(input: string, found: Metadata): Promise<Sharp> {
  if (found.compression !== 'hevc') return sharp(input, OPTIONS).autoOrient()
  const { data, raw } = await decodePhoto(input, found)
  return sharp(data, { raw })
}

async function decodePhoto(input: string, found: Metadata) {
  // Checked before its pixels use memory.
  if (found.width * found.height > MAX_IMAGE_PIXELS) throw new Error('too many pixels')
  return await decodeHevc(input)
}

/** A photo from a phone becomes a JPEG, or a PNG if it has transparent parts. */
async function processHevc(input: string, output: string, found: Metadata): Promise<ImageResult> {
  const { data, raw } = await decodePhoto(input, found)
  await writeThumbnail(sharp(data, { raw }), output)
  const format: KeptFormat = found.hasAlpha ? 'png' : 'jpeg'
  const { width, height } = await sharp(data, { raw })
    .resize(MAX_SIDE_PIXELS, MAX_SIDE_PIXELS, { fit: 'inside', withoutEnlargement: true })
    .toFormat(format, format === 'png' ? {} : { quality: 90 })
    .toFile(output)
  const original = { width: raw.width, height: raw.height }
  return { mime: `image/${format}`, width, height, replaced: true, original }
}

const writeThumbnail = (image: Sharp, output: string) =>
  image
    .resize(THUMBNAIL_SIDE_PIXELS, THUMBNAIL_SIDE_PIXELS, {
      fit: 'inside',
      withoutEnlargement: true,
    })
    .webp({ quality: 80 })
    .toFile(thumbnailOf(output))

/** Everything that may reveal a place, a person or a device: EXIF, IPTC, XMP, text chunks. */
const hasMetadata = (found: Metadata): boolean =>
  found.exif !== undefined ||
  found.iptc !== undefined ||
  found.xmp !== undefined ||
  found.tifftagPhotoshop !== undefined ||
  (found.comments ?? []).length > 0 ||
  (found.orientation ?? 1) !== 1
