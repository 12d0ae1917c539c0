// Converts file bytes to text and back; detects encodings and kinds of binary files.
import { isUtf8 } from 'node:buffer'
import { appError } from '../../errors.ts'
import {
  byteOrderMark,
  type DecodedText,
  decodeText as decode,
  decodeTextAs,
  detectEncoding,
  type Encoding,
  encodeText as encode,
  encodingNamed,
  looksBinary,
  withoutCutCharacter,
} from '../../lib/encodings.ts'
import { sizeText } from '../../lib/size-text.ts'

/** First bytes of common binary formats, in hexadecimal. */
const SIGNATURES: readonly (readonly [string, string])[] = [
  ['89504e47', 'PNG image'],
  ['ffd8ff', 'JPEG image'],
  ['47494638', 'GIF image'],
  ['25504446', 'PDF document'],
  ['504b0304', 'ZIP archive or Office document'],
  ['504b0506', 'ZIP archive'],
  ['1f8b', 'gzip archive'],
  ['425a68', 'bzip2 archive'],
  ['fd377a585a', 'xz archive'],
  ['28b52ffd', 'Zstandard archive'],
  ['377abcaf271c', '7-Zip archive'],
  ['7f454c46', 'ELF program'],
  ['4d5a', 'Windows program'],
  ['cafebabe', 'Java class or Mach-O program'],
  ['0061736d', 'WebAssembly module'],
  ['53514c69746520666f726d6174', 'SQLite database'],
  ['52494646', 'RIFF file (WebP, WAV or AVI)'],
  ['494433', 'MP3 audio'],
  ['4f676753', 'Ogg audio'],
  ['664c6143', 'FLAC audio'],
  ['00000100', 'icon'],
  ['d0cf11e0', 'old Office document'],
  ['774f4632', 'WOFF2 font'],
]
const SAMPLE_BYTES = 8_192

/** The kind of a binary file, or null when the bytes look like text. */
export function binaryKind(bytes: Uint8Array): string | null {
  const start = Buffer.from(bytes.subarray(0, 16)).toString('hex')
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  const known = SIGNATURES.find(([signature]) => start.startsWith(signature))
  if (byteOrderMark(bytes) !== null) return null
  // Text may begin with "BZh" or "MZ": a signature only counts if the bytes do not look like text.
  if (known !== undefined && !isUtf8(withoutCutCharacter(sample))) return known[1]
  // A text in UTF-16 without a mark looks binary, too.
  return looksBinary(sample) && detectEncoding(sample) === null
    ? (known?.[1] ?? 'unknown format')
    : null
}

/**
 * Decodes a file's bytes, in the encoding that `detectEncoding` finds unless one is requested.
 * Throws `binary_file` (400) naming the kind, or `bad_request` for an encoding that is unknown or does not fit.
 */
export function decodeText(bytes: Uint8Array, path: string, requested?: string): DecodedText {
  if (requested !== undefined) return decodeAs(bytes, path, requested)
  const kind = binaryKind(bytes)
  const decoded = kind === null ? decode(bytes) : null
  if (decoded !== null) return decoded
  const found = kind ?? 'unknown format'
  throw appError(
    'binary_file',
    { path, kind: found, size: sizeText(bytes.length) },
    { details: { kind: found, size: bytes.length } },
  )
}

/** The encoding with this label, with a byte order mark if the file has one of it. Throws `bad_request` for an unknown one. */
export function encodingLike(label: string, before: Uint8Array | null): Encoding {
  const name = encodingName(label)
  return { name, bom: before !== null && byteOrderMark(before) === name }
}

/** The name in the Encoding Standard of an encoding. Throws `bad_request` for an unknown one. */
function encodingName(label: string): string {
  const name = encodingNamed(label)
  if (name === null) throw appError('encoding_unknown', { encoding: label.slice(0, 40) })
  return name
}

function decodeAs(bytes: Uint8Array, path: string, requested: string): DecodedText {
  const name = encodingName(requested)
  const decoded = decodeTextAs(bytes, name)
  if (decoded === null) throw appError('encoding_mismatch', { path, encoding: name })
  return decoded
}

/**
 * Encodes text in the encoding it was read in. Throws `bad_request` when the encoding cannot represent it, or can be read but
 * not written.
 */
export function encodeText(text: string, encoding: Encoding, path: string): Buffer {
  const bytes = encode(text, encoding)
  if (bytes === null) throw appError('encoding_not_writable', { path, encoding: encoding.name })
  return bytes
}

/** The lines of a text without newlines; a final newline does not start another line. */
export function splitLines(text: string): string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}
