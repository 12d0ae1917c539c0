// Decodes an image with libvips. Only for the child process: a hostile image may take all of its time and memory.
import { readFile } from 'node:fs/promises'
import sharp, { type Metadata, type Sharp } from 'sharp'
import { decodeHevc } from './decode-hevc.ts'
import { hasExtraBytes, KEPT_FORMATS, type KeptFormat } from './extra-bytes.ts'
import {
  type ImageResult,
  MAX_IMAGE_PIXELS,
  MAX_RESULT_SIDE_PIXELS,
  MAX_SIDE_PIXELS,
  THUMBNAIL_SIDE_PIXELS,
  thumbnailOf,
} from './image-result.ts'

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
