// The ids of a conversation's messages in reading order, for code that reads one message at a time.
import { and, asc, eq, gt, isNull, sql } from 'drizzle-orm'
import type { ConversationId, MessageId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'
import { branchUpFrom, isAttached } from './message-tree.ts'

const BATCH_SIZE = 500
const UNBOUNDED = 2 ** 31 - 1

/** Uses the table `messages`. */
export function createMessageOrder({ read, tables }: Database) {
  const { messages } = tables
  return {
    /** The branch that ends at `leaf`, oldest message first. */
    async branchIds(conversationId: ConversationId, leaf: MessageId): Promise<MessageId[]> {
      const rows = await read
        .select({ id: sql<MessageId>`branch.id` })
        .from(branchUpFrom(tables, conversationId, leaf, UNBOUNDED, UNBOUNDED))
        .orderBy(sql`branch.depth desc`)
      return rows.map(({ id }) => id)
    },

    /** Every message of every branch, in the order of creation. */
    async *allIds(conversationId: ConversationId): AsyncGenerator<MessageId> {
      for (let last = 0; ; ) {
        const rows = await read
          .select({ id: messages.id, row: messages.row })
          .from(messages)
          .where(
            and(
              eq(messages.conversationId, conversationId),
              gt(messages.row, last),
              isNull(messages.deletedAt),
              isAttached(messages),
            ),
          )
          .orderBy(asc(messages.row))
          .limit(BATCH_SIZE)
        for (const { id, row } of rows) {
          yield id
          last = row
        }
        if (rows.length < BATCH_SIZE) return
      }
    },
  }
}
