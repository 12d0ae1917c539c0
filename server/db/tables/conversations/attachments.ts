// The table of attachments: which file was sent with which message.
import { sql } from 'drizzle-orm'
import type { FileId, MessageId } from '../../../protocol/ids.ts'
import type { AnyColumn, Columns } from '../../columns/postgres.ts'
import type { defineFileTables } from '../projects/files.ts'
import type { defineMessageTables } from './messages.ts'

type Needed = Pick<ReturnType<typeof defineMessageTables>, 'messages'> &
  Pick<ReturnType<typeof defineFileTables>, 'files'>

/** A message may have several, in the order of `position`. */
export function defineAttachmentTables(c: Columns, { messages, files }: Needed) {
  const attachments = c.table(
    'attachments',
    {
      messageId: c
        .key<MessageId>('message_id')
        .notNull()
        .references(() => messages.id, { onDelete: 'cascade' }),
      position: c.integer('position').notNull(),
      kind: c.choice<'text' | 'image'>('kind').notNull(),
      name: c.text('name').notNull(),
      extension: c.text('extension'),
      mime: c.text('mime'),
      /** Empty once `file_id` is set. Until then text as it is, images as base64. */
      content: c.text('content').notNull(),
      /** Bytes of the file; null for attachments stored before this column existed. */
      size: c.integer('size'),
      /** The file; null until the contents of an older attachment have moved to one. */
      fileId: c.key<FileId>('file_id').references((): AnyColumn => files.id),
      /** The next part of its text to index for the search; null when all are indexed. */
      searchFrom: c.integer('search_from'),
      /**
       * The document of a project that a run made from a file too large for its window. No foreign key: it stays when the
       * document is deleted, so that no later run adds it again.
       */
      documentId: c.text('document_id'),
    },
    (t) => [
      c.primaryKey({ columns: [t.messageId, t.position] }),
      c.index('attachments_file').on(t.fileId),
      c.index('attachments_inline').on(t.messageId).where(sql`${t.fileId} is null`),
      c.index('attachments_search').on(t.messageId).where(sql`${t.searchFrom} is not null`),
    ],
  )

  return { attachments }
}
