// Indexes attachments that are too long to be indexed whole with their message, one part at a time.
import { and, eq, sql } from 'drizzle-orm'
import type { Database } from '../../database.ts'
import { partOf } from '../../search-entries.ts'
import { fileTextOf } from './entry-texts.ts'
import type { createSearchIndex } from './index-writer.ts'

export function createFileParts(
  { read, readOffThread, write, tables }: Database,
  index: ReturnType<typeof createSearchIndex>,
): () => Promise<boolean> {
  const { attachments, messages, conversations, files } = tables
  /** @returns false when there is nothing left. The text is read off the event loop, which a long one would block. */
  return async () => {
    // Uses an index. The off-thread reader starts only for a text: its thread takes 20 MB and stays for a minute.
    const [waiting] = await read
      .select({ messageId: attachments.messageId, position: attachments.position })
      .from(attachments)
      .where(sql`${attachments.searchFrom} is not null`)
      .limit(1)
    if (waiting === undefined) return false
    const { messageId, position } = waiting
    const [next] = await readOffThread
      .select({
        messageId: attachments.messageId,
        position: attachments.position,
        part: sql`${attachments.searchFrom}`.mapWith(Number),
        row: messages.row,
        userId: conversations.userId,
        text: partOf(fileTextOf(tables), sql`${attachments.searchFrom}`),
      })
      .from(attachments)
      .innerJoin(messages, eq(messages.id, attachments.messageId))
      .innerJoin(conversations, eq(conversations.id, messages.conversationId))
      .leftJoin(files, eq(files.id, attachments.fileId))
      .where(
        and(
          eq(attachments.messageId, messageId),
          eq(attachments.position, position),
          sql`${attachments.searchFrom} is not null`,
        ),
      )
    // The attachment was deleted meanwhile.
    if (next === undefined) return true
    await write((tx) => index.putFilePart(tx, next))
    return true
  }
}
