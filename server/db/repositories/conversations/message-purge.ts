// Purging deleted messages, after which they can no longer be restored.
import { inArray, lt } from 'drizzle-orm'
import type { Database } from '../../database.ts'
import { createRunRecordRepository } from '../runs/run-records.ts'
import { createFilesOfMessages } from './files-of-messages.ts'

/** Messages deleted by one statement. */
const DELETE_BATCH_SIZE = 500

/** Purges messages deleted before a given time, the runs that wrote them and the records of these, batch by batch. */
export function createMessagePurge(database: Database): (before: Date) => Promise<void> {
  const { read, write, tables } = database
  const { messages, runs } = tables
  const records = createRunRecordRepository(database)
  const files = createFilesOfMessages(database)
  return async (before) => {
    for (;;) {
      const some = await read
        .select({ id: messages.id })
        .from(messages)
        .where(lt(messages.deletedAt, before))
        .limit(DELETE_BATCH_SIZE)
      if (some.length === 0) return
      const ids = some.map(({ id }) => id)
      const used = await files.find(inArray(messages.id, ids))
      await write(async (tx) => {
        const purged = await tx
          .delete(runs)
          .where(inArray(runs.messageId, ids))
          .returning({ conversationId: runs.conversationId })
        await tx.delete(messages).where(inArray(messages.id, ids))
        for (const id of new Set(purged.map(({ conversationId }) => conversationId)))
          await records.removeUnused(tx, id)
      })
      await files.removeUnused(used)
    }
  }
}
