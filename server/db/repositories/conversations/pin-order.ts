// The order in which a user put their pinned conversations.
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { ConversationId, UserId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'

/** Puts pinned conversations into this order. Ids that are not pinned conversations of the user have no effect. */
export const createPinOrder =
  (database: Database) =>
  async (userId: UserId, ids: readonly ConversationId[]): Promise<void> => {
    const { conversations } = database.tables
    const cases = ids.map((id, at) => sql`when ${id} then ${sql.raw(String(at))}`)
    const position = sql<number>`case ${conversations.id} ${sql.join(cases, sql` `)} end`
    await database.write(async (tx) => {
      await tx
        .update(conversations)
        .set({ pinPosition: position })
        .where(
          and(
            eq(conversations.userId, userId),
            eq(conversations.pinned, true),
            inArray(conversations.id, [...ids]),
          ),
        )
    })
  }
