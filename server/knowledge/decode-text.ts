// Decodes the bytes of a text file and guesses its encoding.
import { looksBinary } from '../lib/binary-bytes.ts'

/**
 * Tries the byte-order mark, then UTF-8, then the Chinese encoding GB18030 (which includes GBK and GB2312), then
 * Windows-1252. Null when the bytes are not text: they contain NUL or many control characters.
 */
export function decodeText(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  if (looksBinary(bytes) || bytes.includes(0)) return null
  for (const encoding of ['utf-8', 'gb18030']) {
    try {
      return new TextDecoder(encoding, { fatal: true }).decode(bytes)
    } catch {
      // Not this encoding: try the next.
    }
  }
  return new TextDecoder('windows-1252').decode(bytes)
}
