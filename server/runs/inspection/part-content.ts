// How the text of a part is stored: as it is, or compressed where that is worth its time.
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** A shorter text is stored as it is. */
export const MIN_DEFLATED_CHARACTERS = 1_500
/** The first byte says how the rest is stored. */
const PLAIN = Buffer.from([0])
const DEFLATED = Buffer.from([1])
/** More than any part has; a damaged row must not fill the memory. */
const MAX_BYTES = 4 * 1024 * 1024

/** The bytes that are stored for a text. */
export const packPart = async (text: string): Promise<Buffer> =>
  text.length < MIN_DEFLATED_CHARACTERS
    ? Buffer.concat([PLAIN, Buffer.from(text)])
    : Buffer.concat([DEFLATED, await deflate(text, { level: 3 })])

/** The text of what `packPart` returned. */
export async function readPart(content: Buffer): Promise<string> {
  const rest = content.subarray(1)
  const bytes = content[0] === 1 ? await inflate(rest, { maxOutputLength: MAX_BYTES }) : rest
  return bytes.toString('utf8')
}
