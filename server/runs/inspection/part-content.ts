// The stored form of a part's text: plain, or compressed if that saves enough.
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** Shorter texts are stored uncompressed. */
export const MIN_DEFLATED_CHARACTERS = 1_500
/** The first byte tells how the rest is stored. */
const PLAIN = Buffer.from([0])
const DEFLATED = Buffer.from([1])
/** No part is this large; the limit prevents a damaged row from filling the memory. */
const MAX_BYTES = 4 * 1024 * 1024

/** Converts a text to the bytes that are stored. */
export const packPart = async (text: string): Promise<Buffer> =>
  text.length < MIN_DEFLATED_CHARACTERS
    ? Buffer.concat([PLAIN, Buffer.from(text)])
    : Buffer.concat([DEFLATED, await deflate(text, { level: 3 })])

/** Returns the text that `packPart` was given. */
export async function readPart(content: Buffer): Promise<string> {
  const rest = content.subarray(1)
  const bytes = content[0] === 1 ? await inflate(rest, { maxOutputLength: MAX_BYTES }) : rest
  return bytes.toString('utf8')
}
