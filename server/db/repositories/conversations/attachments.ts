// Attachments of messages: metadata in lists, contents only one at a time.
import { and, desc, eq, getTableColumns, inArray, isNull, ne, sql } from 'drizzle-orm'
import type { LongText } from '../../../lib/json-pieces.ts'
import type { Attachment } from '../../../protocol/conversations/message.ts'
import type { DescribedFailure } from '../../../protocol/failures/stored.ts'
import type { ConversationId, FileId, MessageId, ProjectId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'
import { byteLength, readLongText } from '../../fragments.ts'
import type { FileRow } from '../projects/files.ts'

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
  /** Null until the content of an attachment from an earlier version has moved to a file. */
  fileId: FileId | null
  width: number | null
  height: number | null
  pages: number | null
  /** Characters of the text that a model gets; null for images and for attachments without a file. */
  characters: number | null
  /** Why no text, or not all of it, could be read. */
  failure: DescribedFailure | null
  /** The document made from it, even if that document has been deleted. */
  documentId: string | null
  /** The project of this document; both are null if there is none. */
  documentProjectId: ProjectId | null
  documentName: string | null
}

/**
 * An attachment with its content for a model: its text, the image itself, or the name of the blob with the image or PDF.
 */
export type AttachmentContent = { position: number } & ReadAttachment
type ReadAttachment =
  | (Attachment & { pdfSha256?: string })
  | { name: string; mime: ImageMime; sha256: string }
type ImageMime = Extract<Attachment, { mime: string }>['mime']

export const PDF = 'application/pdf'

/** The columns of an attachment that are shown; join `files` and, by `isDocumentOf`, `documents` on the left. */
export const attachmentColumns = (tables: Database['tables']) => {
  const { attachments, files, documents } = tables
  const { content: _content, size: _size, ...columns } = getTableColumns(attachments)
  const { width, height, pages, characters, failure } = files
  const document = { documentProjectId: documents.projectId, documentName: documents.name }
  const ofFile = { width, height, pages, characters, failure }
  return { ...columns, size: sizeOf(attachments), ...ofFile, ...document }
}

/** Joins the document that was made from an attachment, unless it could not be read. */
export const isDocumentOf = ({ attachments, documents }: Database['tables']) =>
  and(eq(documents.id, attachments.documentId), ne(documents.status, 'failed'))

/** The text of an attachment, wherever it is stored; join `files` on the left. */
export const attachmentText = ({ attachments, files }: Database['tables']) =>
  sql<string>`case when ${attachments.kind} = 'text' then coalesce(${files.text}, ${attachments.content}) else '' end`

/** Stores the attachments of messages. Uses the tables `attachments`, `files`, `documents` and `messages`. */
export function createAttachmentRepository(database: Database) {
  const isAtPosition = rowAtPosition(database)
  return {
    ...readAttachments(database, isAtPosition),
    ...writeAttachments(database, isAtPosition),
  }
}

/** Which row is the attachment at a position of a message. */
const rowAtPosition =
  ({ tables: { attachments } }: Database) =>
  (messageId: MessageId, position: number) =>
    and(eq(attachments.messageId, messageId), eq(attachments.position, position))

type RowAtPosition = ReturnType<typeof rowAtPosition>

/** What is attached. */
function readAttachments(database: Database, isAtPosition: RowAtPosition) {
  const { read, tables } = database
  const { attachments, files, documents } = tables
  const info = attachmentColumns(tables)
  return {
    /**
     * An attachment at its position in a message. `content` is its text, or an image as base64; null for an image whose
     * bytes are the blob `sha256`.
     */
    async find(
      messageId: MessageId,
      position: number,
    ): Promise<(AttachmentInfo & { content: LongText | null; sha256: string | null }) | undefined> {
      const [row] = await read
        .select({ ...info, sha256: files.sha256 })
        .from(attachments)
        .leftJoin(files, eq(files.id, attachments.fileId))
        .leftJoin(documents, isDocumentOf(tables))
        .where(isAtPosition(messageId, position))
      if (row === undefined) return undefined
      const content =
        row.fileId === null
          ? readLongText(read, attachments, attachments.content, isAtPosition(messageId, position))
          : row.kind === 'text'
            ? readLongText(read, files, files.text, eq(files.id, row.fileId))
            : null
      return { ...toAttachmentInfo(row), content, sha256: row.sha256 }
    },

    /** The attachments of a message that are files, in order. */
    async files(
      messageId: MessageId,
    ): Promise<{ fileId: FileId; name: string; mime: string | null }[]> {
      const rows = await read
        .select({ fileId: attachments.fileId, name: attachments.name, mime: attachments.mime })
        .from(attachments)
        .where(eq(attachments.messageId, messageId))
        .orderBy(attachments.position)
      return rows.flatMap(({ fileId, ...file }) => (fileId === null ? [] : [{ fileId, ...file }]))
    },

    /** The attachments at some positions of a message with their contents, in order. */
    contents: (messageId: MessageId, positions: readonly number[]) =>
      contents(database, messageId, positions),

    /** The file of the newest image of a conversation, or of the newest one with a name. */
    findImage: (conversationId: ConversationId, name: string | undefined) =>
      findImage(database, conversationId, name),
  }
}

/** What is attached anew, copied, or moved out of the database. */
function writeAttachments(database: Database, isAtPosition: RowAtPosition) {
  const { tables } = database
  const { attachments } = tables
  return {
    /** An attachment whose content is not in a file yet, with the owner of its conversation. */
    findInline: () => findInline(database),

    /**
     * Replaces the content of an attachment with a file of the same content.
     * @returns false when the attachment no longer exists.
     */
    async moveToFile(
      tx: Writer,
      messageId: MessageId,
      position: number,
      file: FileRow,
    ): Promise<boolean> {
      const moved = await tx
        .update(attachments)
        .set({ fileId: file.id, content: '', size: file.size, mime: file.mime })
        .where(and(isAtPosition(messageId, position), isNull(attachments.fileId)))
        .returning({ position: attachments.position })
      return moved.length > 0
    },

    /** Records the document that was made from an attachment. */
    async setDocument(
      tx: Writer,
      messageId: MessageId,
      position: number,
      documentId: string,
    ): Promise<void> {
      await tx.update(attachments).set({ documentId }).where(isAtPosition(messageId, position))
    },

    /** Adds stored images to a message. Only one caller at a time may add to the same message. */
    append: (
      tx: Writer,
      messageId: MessageId,
      images: readonly Pick<FileRow, 'id' | 'name' | 'mime' | 'size'>[],
    ) => append(database, tx, messageId, images),

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

async function contents(
  database: Database,
  messageId: MessageId,
  positions: readonly number[],
): Promise<AttachmentContent[]> {
  const { read } = database
  const { attachments, files } = database.tables
  if (positions.length === 0) return []
  const rows = await read
    .select({
      position: attachments.position,
      kind: attachments.kind,
      name: attachments.name,
      extension: attachments.extension,
      mime: attachments.mime,
      content: sql<string>`coalesce(${files.text}, ${attachments.content})`,
      sha256: files.sha256,
    })
    .from(attachments)
    .leftJoin(files, eq(files.id, attachments.fileId))
    .where(and(eq(attachments.messageId, messageId), inArray(attachments.position, [...positions])))
    .orderBy(attachments.position)
  return rows.map((row) => ({ position: row.position, ...toAttachment(row) }))
}

async function findImage(
  database: Database,
  conversationId: ConversationId,
  name: string | undefined,
): Promise<FileId | undefined> {
  const { read } = database
  const { attachments, messages } = database.tables
  const [row] = await read
    .select({ fileId: attachments.fileId })
    .from(messages)
    .innerJoin(attachments, eq(attachments.messageId, messages.id))
    .where(
      and(
        eq(messages.conversationId, conversationId),
        isNull(messages.deletedAt),
        eq(attachments.kind, 'image'),
        name === undefined ? undefined : eq(attachments.name, name),
      ),
    )
    .orderBy(desc(messages.row), desc(attachments.position))
    .limit(1)
  return row?.fileId ?? undefined
}

async function append(
  database: Database,
  tx: Writer,
  messageId: MessageId,
  images: readonly Pick<FileRow, 'id' | 'name' | 'mime' | 'size'>[],
): Promise<void> {
  const { attachments } = database.tables
  if (images.length === 0) return
  const [last] = await tx
    .select({ position: sql`max(${attachments.position})`.mapWith(Number) })
    .from(attachments)
    .where(eq(attachments.messageId, messageId))
  const first = last?.position == null ? 0 : last.position + 1
  await tx.insert(attachments).values(
    images.map(({ id: fileId, name, mime, size }, index) => ({
      ...{ messageId, position: first + index, fileId, name, mime, size },
      ...{ kind: 'image' as const, extension: null, content: '', searchFrom: null },
      documentId: null,
    })),
  )
}

async function findInline(database: Database) {
  const { tables, read } = database
  const { attachments, messages } = database.tables
  const { conversations } = tables
  const [row] = await read
    .select({ attachment: attachments, userId: conversations.userId })
    .from(attachments)
    .innerJoin(messages, eq(messages.id, attachments.messageId))
    .innerJoin(conversations, eq(conversations.id, messages.conversationId))
    .where(isNull(attachments.fileId))
    .limit(1)
  if (row === undefined) return undefined
  const { attachment, userId } = row
  const { messageId, position } = attachment
  return { messageId, position, userId, content: toInline(attachment) }
}

/** Bytes of the file. Base64 turns three into four characters; older rows do not record how many were padding. */
export const sizeOf = (table: Database['tables']['attachments']) => {
  const stored = byteLength(table.content)
  return sql`coalesce(${table.size}, case when ${table.kind} = 'image' then ${stored} * 3 / 4 else ${stored} end)`.mapWith(
    Number,
  )
}

/** A row without its content, as lists and messages carry it. */
export const toAttachmentInfo = (
  row: Omit<AttachmentRow, 'content' | 'size'> &
    Omit<AttachmentInfo, keyof AttachmentRow> &
    Pick<AttachmentInfo, 'size'>,
): AttachmentInfo => ({
  position: row.position,
  kind: row.kind,
  name: row.name,
  extension: row.extension,
  mime: row.mime ?? 'text/plain',
  size: row.size,
  fileId: row.fileId,
  width: row.width,
  height: row.height,
  pages: row.pages,
  characters: row.characters,
  failure: row.failure,
  documentId: row.documentId,
  documentProjectId: row.documentProjectId,
  documentName: row.documentName,
})

type ContentRow = Pick<AttachmentRow, 'kind' | 'name' | 'extension' | 'mime' | 'content'>

function toAttachment(row: ContentRow & { sha256: string | null }): ReadAttachment {
  const { name, sha256 } = row
  if (row.kind === 'image' && sha256 !== null) return { name, mime: imageMime(row), sha256 }
  const isPdf = row.mime === PDF && sha256 !== null
  return { ...toInline(row), ...(isPdf ? { pdfSha256: sha256 } : {}) }
}

/** Checked against the list of image types when it was stored. */
const imageMime = (row: ContentRow): ImageMime => row.mime as ImageMime

function toInline(row: ContentRow): Attachment {
  const { name, content } = row
  if (row.kind === 'text') return { name, extension: row.extension ?? undefined, content }
  return { name, mime: imageMime(row), data: content }
}
