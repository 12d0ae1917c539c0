// Reads the content of an attachment, from its file or, for earlier versions, from its row.
import type { AttachmentInfo } from '../db/repositories/conversations/attachments.ts'
import type { Store } from '../db/store.ts'
import type { LongText } from '../lib/json-pieces.ts'
import type { MessageId } from '../protocol/ids.ts'
import type { BlobStore } from './blobs.ts'

/** Reads the contents of stored attachments. */
export interface AttachmentReader {
  /** An attachment with its content in pieces: text, or an image as base64. */
  find(
    messageId: MessageId,
    position: number,
  ): Promise<(AttachmentInfo & { content: LongText }) | undefined>
}

/** Reads contents in pieces, never as a whole. */
export const createAttachmentReader = (
  attachments: Pick<Store['attachments'], 'find'>,
  blobs: Pick<BlobStore, 'open'>,
): AttachmentReader => {
  type Found = NonNullable<Awaited<ReturnType<typeof attachments.find>>>

  const contentOf = ({ content, sha256 }: Found): LongText =>
    content ?? base64Of(blobs, sha256 ?? '')

  /** The content of a row. Continues in the file if the row is moved to one while it is read. */
  const contentOfRow = (row: Found, messageId: MessageId, position: number): LongText => ({
    async *readPieces() {
      let characters = 0
      for await (const piece of contentOf(row).readPieces()) {
        characters += piece.length
        yield piece
      }
      const now = await attachments.find(messageId, position)
      if (now !== undefined && now.fileId !== null)
        yield* piecesAfter(characters, contentOf(now).readPieces())
    },
  })

  return {
    async find(messageId, position) {
      const found = await attachments.find(messageId, position)
      if (found === undefined) return undefined
      const { content: _, sha256: __, ...info } = found
      const content =
        found.fileId === null ? contentOfRow(found, messageId, position) : contentOf(found)
      return { ...info, content }
    },
  }
}

/** The rest of a text whose beginning was already read. */
async function* piecesAfter(
  characters: number,
  pieces: AsyncIterable<string>,
): AsyncGenerator<string> {
  let from = 0
  for await (const piece of pieces) {
    const rest = piece.slice(Math.max(0, characters - from))
    from += piece.length
    if (rest !== '') yield rest
  }
}

/** A blob as base64, in pieces of a multiple of four characters. */
const base64Of = (blobs: Pick<BlobStore, 'open'>, sha256: string): LongText => ({
  async *readPieces() {
    let rest = Buffer.alloc(0)
    for await (const chunk of await blobs.open(sha256)) {
      const bytes = Buffer.concat([rest, chunk])
      const whole = bytes.length - (bytes.length % 3)
      if (whole > 0) yield bytes.toString('base64', 0, whole)
      rest = bytes.subarray(whole)
    }
    if (rest.length > 0) yield rest.toString('base64')
  },
})

/** The bytes of a stored file, in pieces. */
export async function* longTextBytes(file: {
  kind: 'text' | 'image'
  content: LongText
}): AsyncGenerator<Buffer> {
  // The length of a stored slice is a multiple of four characters, so each slice is valid base64.
  for await (const piece of file.content.readPieces())
    yield Buffer.from(piece, file.kind === 'image' ? 'base64' : 'utf8')
}
