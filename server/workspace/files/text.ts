// Converts file bytes to text and back; detects encodings and kinds of binary files.
import { isUtf8 } from 'node:buffer'
import { appError } from '../../errors.ts'
import { looksBinary, withoutCutCharacter } from '../../lib/binary-bytes.ts'
import { sizeText } from './faults.ts'

/** The detected encoding of a text file; `bom`: the file begins with a byte order mark. */
export interface Encoding {
  /** The name in the Encoding Standard (`utf-8`, `gb18030`, `windows-1252`). */
  readonly name: string
  readonly bom: boolean
}

export const UTF_8: Encoding = { name: 'utf-8', bom: false }

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
  if (sample.includes(0)) return known?.[1] ?? 'unknown format'
  // Text may begin with "BZh" or "MZ": a signature only counts if the bytes do not look like text.
  if (known !== undefined && !isUtf8(withoutCutCharacter(sample))) return known[1]
  return looksBinary(sample) ? (known?.[1] ?? 'unknown format') : null
}

function byteOrderMark(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return null
}

/**
 * Decodes a file's bytes. Without `requested`, the encoding is that of the byte order mark, else UTF-8 if valid, else
 * Windows-1252.
 * Throws `binary_file` (400) naming the kind, or `bad_request` for an encoding that is unknown or does not fit.
 */
export function decodeText(
  bytes: Uint8Array,
  path: string,
  requested?: string,
): { text: string; encoding: Encoding } {
  const mark = byteOrderMark(bytes)
  if (requested === undefined) {
    const kind = binaryKind(bytes)
    if (kind !== null)
      throw appError(
        'binary_file',
        { path, kind, size: sizeText(bytes.length) },
        { details: { kind, size: bytes.length } },
      )
  }
  const label = requested ?? mark ?? (isUtf8(bytes) ? 'utf-8' : 'windows-1252')
  let decoder: InstanceType<typeof TextDecoder>
  try {
    decoder = new TextDecoder(label, { fatal: requested !== undefined })
  } catch (error) {
    throw appError('encoding_unknown', { encoding: label.slice(0, 40) }, { cause: error })
  }
  try {
    return {
      text: decoder.decode(bytes),
      encoding: { name: decoder.encoding, bom: mark === decoder.encoding },
    }
  } catch (error) {
    throw appError('encoding_mismatch', { path, encoding: decoder.encoding }, { cause: error })
  }
}

/** Encodes text in the encoding it was read in. Throws `bad_request` for encodings that can be read but not written. */
export function encodeText(text: string, encoding: Encoding, path: string): Buffer {
  const content = encoding.bom ? `\ufeff${text}` : text
  if (encoding.name === 'utf-8') return Buffer.from(content, 'utf8')
  if (encoding.name === 'utf-16le') return Buffer.from(content, 'utf16le')
  const bytes = Buffer.from(content, 'latin1')
  // Windows-1252 and Latin-1 differ only in 0x80 to 0x9f; the round trip detects text that would be damaged.
  if (encoding.name === 'windows-1252' && new TextDecoder('windows-1252').decode(bytes) === content)
    return bytes
  throw appError('encoding_not_writable', { path, encoding: encoding.name })
}

/** The lines of a text without newlines; a final newline does not start another line. */
export function splitLines(text: string): string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}
