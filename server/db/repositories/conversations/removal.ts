// Removing a conversation for good.
import { and, eq, inArray } from 'drizzle-orm'
import type { ConversationId, UserId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'
import { createFilesOfMessages } from './files-of-messages.ts'

/** Messages deleted in one transaction, so that no transaction blocks other writes for long. */
const DELETE_BATCH_SIZE = 200

/**
 * Removes a conversation, also one in the trash, with everything in it and the files that only it uses. A long one takes several transactions; if the process
 * dies in between, a second call completes the removal. Resolves with false when the user has no such conversation.
 */
export function createConversationRemoval(database: Database) {
  const { read, write, tables } = database
  const { conversations, messages } = tables
  const files = createFilesOfMessages(database)
  return async (userId: UserId, id: ConversationId): Promise<boolean> => {
    const [found] = await read
      .select({ id: conversations.id })
      .from(conversations)
      .where(and(eq(conversations.id, id), eq(conversations.userId, userId)))
    if (found === undefined) return false
    for (;;) {
      const some = await read
        .select({ row: messages.row })
        .from(messages)
        .where(eq(messages.conversationId, id))
        .limit(DELETE_BATCH_SIZE)
      const rows = some.map(({ row }) => row)
      const used = rows.length === 0 ? [] : await files.find(inArray(messages.row, rows))
      await write(async (tx) => {
        if (rows.length === DELETE_BATCH_SIZE)
          await tx.delete(messages).where(inArray(messages.row, rows))
        else await tx.delete(conversations).where(eq(conversations.id, id))
      })
      await files.removeUnused(used)
      if (rows.length < DELETE_BATCH_SIZE) return true
    }
  }
}
