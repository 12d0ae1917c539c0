// Pictures with character cards in them, as programs write them.
import { crc32, deflateSync } from 'node:zlib'

const chunk = (type: string, data: Buffer): Buffer => {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const ends = Buffer.alloc(8)
  ends.writeUInt32BE(data.length, 0)
  ends.writeUInt32BE(crc32(content), 4)
  return Buffer.concat([ends.subarray(0, 4), content, ends.subarray(4)])
}

/** The `tEXt` chunk of a card: its JSON as base64, behind a keyword. */
export const cardChunk = (keyword: string, card: unknown): Buffer =>
  chunk(
    'tEXt',
    Buffer.from(`${keyword}\0${Buffer.from(JSON.stringify(card)).toString('base64')}`, 'latin1'),
  )

/** A green picture with chunks before its end. @param side in pixels; only 8 have a content. */
export function pictureWith(chunks: readonly Buffer[], side = 8): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(side, 0)
  header.writeUInt32BE(side, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const line = Buffer.concat([Buffer.from([0]), Buffer.alloc(8 * 3, Buffer.from([30, 160, 90]))])
  const pixels = deflateSync(Buffer.concat(Array.from({ length: 8 }, () => line)))
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    ...chunks,
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ])
}
