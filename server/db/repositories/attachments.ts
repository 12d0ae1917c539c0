// Attachments of messages: metadata in lists, contents only one at a time.
import { and, eq, getTableColumns, inArray, sql } from 'drizzle-orm'
import type { LongText } from '../../lib/json-pieces.ts'
import type { MessageId } from '../../protocol/ids.ts'
import type { Attachment } from '../../protocol/message.ts'
import type { Database, Writer } from '../database.ts'
import { byteLength, readLongText } from '../fragments.ts'

type AttachmentRow = Database['tables']['attachments']['$inferSelect']

/** An attachment without its content. */
export type AttachmentInfo = {
  position: number
  kind: 'text' | 'image'
  name: string
  extension: string | null
  mime: string
  /** Bytes of the file. */
  size: number
}

export function createAttachmentRepository({ read, tables }: Database) {
  const { attachments } = tables
  const { content: _content, size: _size, ...columns } = getTableColumns(attachments)
  const info = { ...columns, size: sizeOf(attachments) }
  const at = (messageId: MessageId, position: number) =>
    and(eq(attachments.messageId, messageId), eq(attachments.position, position))

  return {
    /** An attachment at its position in a message, with its stored content: text, or an image as base64. */
    async find(
      messageId: MessageId,
      position: number,
    ): Promise<(AttachmentInfo & { content: LongText }) | undefined> {
      const [row] = await read.select(info).from(attachments).where(at(messageId, position))
      if (row === undefined) return undefined
      const content = readLongText(read, attachments, attachments.content, at(messageId, position))
      return { ...toAttachmentInfo(row), content }
    },

    /** The attachments at some positions of a message with their contents, in order. */
    async contents(
      messageId: MessageId,
      positions: readonly number[],
    ): Promise<(Attachment & { position: number })[]> {
      if (positions.length === 0) return []
      const rows = await read
        .select()
        .from(attachments)
        .where(
          and(eq(attachments.messageId, messageId), inArray(attachments.position, [...positions])),
        )
        .orderBy(attachments.position)
      return rows.map((row) => ({ position: row.position, ...toAttachment(row) }))
    },

    /** Copies the attachments of one message to a new one. */
    async copy(tx: Writer, from: MessageId, to: MessageId): Promise<void> {
      await tx.insert(attachments).select(
        tx
          .select({
            ...getTableColumns(attachments),
            messageId: sql<MessageId>`${to}`.as('message_id'),
          })
          .from(attachments)
          .where(eq(attachments.messageId, from)),
      )
    },
  }
}

/** Bytes of the file. Base64 turns three into four characters; older rows do not record how many were padding. */
export const sizeOf = (table: Database['tables']['attachments']) => {
  const stored = byteLength(table.content)
  return sql`coalesce(${table.size}, case when ${table.kind} = 'image' then ${stored} * 3 / 4 else ${stored} end)`.mapWith(
    Number,
  )
}

export const toAttachmentInfo = (
  row: Omit<AttachmentRow, 'content' | 'size'> & { size: number },
): AttachmentInfo => ({
  position: row.position,
  kind: row.kind,
  name: row.name,
  extension: row.extension,
  mime: row.mime ?? 'text/plain',
  size: row.size,
})

function toAttachment(row: AttachmentRow): Attachment {
  const { name, content } = row
  if (row.kind === 'text') return { name, extension: row.extension ?? undefined, content }
  // Checked against the list of image types on upload.
  return { name, mime: row.mime as 'image/png', data: content }
}

/** Bytes of the file that an inline attachment stands for. */
export const attachmentBytes = (file: Attachment): number =>
  'data' in file ? Buffer.byteLength(file.data, 'base64') : Buffer.byteLength(file.content)

/** An attachment as stored at its position in a message. */
export const toAttachmentRow = (
  messageId: MessageId,
  position: number,
  file: Attachment,
): AttachmentRow => ({
  messageId,
  position,
  name: file.name,
  size: attachmentBytes(file),
  ...('data' in file
    ? { kind: 'image', extension: null, mime: file.mime, content: file.data }
    : { kind: 'text', extension: file.extension ?? null, mime: null, content: file.content }),
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
