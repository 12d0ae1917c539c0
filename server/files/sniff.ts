// Detects the type of a file by its first bytes. Names and declared types are ignored.
import { type AudioType, audioTypeOf } from '../lib/audio-type.ts'
import { detectEncoding, looksBinary } from '../lib/encodings.ts'

/** Bytes that `sniff` needs to see. */
export const SNIFFED_BYTES = 8_192

/** The type of a file according to its first bytes. */
export type SniffedType =
  | { kind: 'image'; mime: string }
  | { kind: 'document'; mime: 'application/pdf' | 'application/zip' }
  | { kind: 'text'; mime: 'text/plain' }
  /** A recording, or a video in the same container. */
  | { kind: 'audio'; type: AudioType }
  | { kind: 'unknown' }

const latin1 = (head: Buffer, start: number, end: number): string =>
  head.toString('latin1', start, end)

/** Brands of the ISO base media file format that hold a still image (HEIC: ISO/IEC 23008-12, AVIF: AV1 Image File Format). */
const HEIF_BRANDS = new Set(['heic', 'heix', 'heim', 'heis', 'mif1', 'msf1', 'avif'])

/** The type of an image by its first bytes; null if it is none. */
export function imageType(head: Buffer): string | null {
  if (latin1(head, 0, 8) === '\x89PNG\r\n\x1a\n') return 'image/png'
  if (head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff) return 'image/jpeg'
  if (/^GIF8[79]a/.test(latin1(head, 0, 6))) return 'image/gif'
  if (latin1(head, 0, 4) === 'RIFF' && latin1(head, 8, 12) === 'WEBP') return 'image/webp'
  if (latin1(head, 4, 8) === 'ftyp' && HEIF_BRANDS.has(latin1(head, 8, 12)))
    return latin1(head, 8, 12) === 'avif' ? 'image/avif' : 'image/heic'
  return null
}

/** SVG is text: it can run scripts and load other files. */
export function sniff(head: Buffer): SniffedType {
  const image = imageType(head)
  if (image !== null) return { kind: 'image', mime: image }
  if (latin1(head, 0, 5) === '%PDF-') return { kind: 'document', mime: 'application/pdf' }
  if (latin1(head, 0, 4) === 'PK\x03\x04') return { kind: 'document', mime: 'application/zip' }
  const isBinary = looksBinary(head)
  const audio = isBinary ? audioTypeOf(head) : undefined
  if (audio !== undefined) return { kind: 'audio', type: audio }
  // Text in UTF-16 looks binary.
  return !isBinary || detectEncoding(head) !== null
    ? { kind: 'text', mime: 'text/plain' }
    : { kind: 'unknown' }
}

/** Bytes at the end of a ZIP archive that `officeType` needs to see: the list of its entries. */
export const ARCHIVE_LIST_BYTES = 256 * 1024

/** The part that each kind of Office document has, and the type of the kind. Macros and templates have it, too. */
const OFFICE_TYPES = [
  // Word on the web numbers it: `word/document2.xml`.
  ['word/document', 'wordprocessingml.document'],
  ['xl/workbook.xml', 'spreadsheetml.sheet'],
  ['ppt/presentation.xml', 'presentationml.presentation'],
] as const

/**
 * The type of an Office document by the end of its archive; undefined for other archives. Their reader checks that the content is
 * what the list says.
 */
export function officeType(end: Buffer): string | undefined {
  const found = OFFICE_TYPES.find(([part]) => end.includes(part))
  return found && `application/vnd.openxmlformats-officedocument.${found[1]}`
}
