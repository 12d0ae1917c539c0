// Files of messages that are deleted for good: those that no other message uses stop counting to the storage at once.
import { and, eq, inArray, isNotNull, notExists, type SQL } from 'drizzle-orm'
import type { FileId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'

/** Files deleted by one statement. */
const DELETE_BATCH_SIZE = 500

/** Uses the tables `attachments`, `files` and `messages`. */
export function createFilesOfMessages({ read, write, tables }: Database) {
  const { attachments, files, messages } = tables
  return {
    /** The files that the messages use. Read them before the messages are deleted. */
    async find(ofMessages: SQL | undefined): Promise<FileId[]> {
      const rows = await read
        .selectDistinct({ id: attachments.fileId })
        .from(attachments)
        .innerJoin(messages, eq(messages.id, attachments.messageId))
        .where(and(ofMessages, isNotNull(attachments.fileId)))
      return rows.flatMap(({ id }) => id ?? [])
    },

    /**
     * Removes those that no message uses any more. Never rejects: a file that another message begins to use at this moment
     * stays, and what is left after a fault is removed by the collection of unused files.
     */
    async removeUnused(ids: readonly FileId[]): Promise<void> {
      for (let index = 0; index < ids.length; index += DELETE_BATCH_SIZE)
        await write((tx) =>
          tx
            .delete(files)
            .where(
              and(
                inArray(files.id, ids.slice(index, index + DELETE_BATCH_SIZE)),
                notExists(
                  tx
                    .select({ id: attachments.fileId })
                    .from(attachments)
                    .where(eq(attachments.fileId, files.id)),
                ),
              ),
            ),
        ).catch(() => undefined)
    },
  }
}
