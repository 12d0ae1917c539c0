// Archives and pins several conversations of a user at once.
import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import type { ConversationId, UserId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'

/** What is set; an absent mark stays unchanged. */
export type Marks = { archived?: boolean; pinned?: boolean }

/** One statement for all conversations. Returns those that the user has outside the trash, in no order. */
export const createMarks =
  (database: Database) =>
  async (
    userId: UserId,
    ids: readonly ConversationId[],
    marks: Marks,
  ): Promise<ConversationId[]> => {
    const { conversations } = database.tables
    const { pinned, pinPosition } = conversations
    const placed =
      marks.pinned === undefined
        ? {}
        : // One that is pinned already keeps its place among the pinned ones.
          {
            pinPosition: sql<number>`case when ${eq(pinned, marks.pinned)} then ${pinPosition} end`,
          }
    const marked = await database.write((tx) =>
      tx
        .update(conversations)
        .set({ ...marks, ...placed })
        .where(
          and(
            inArray(conversations.id, [...ids]),
            eq(conversations.userId, userId),
            isNull(conversations.deletedAt),
          ),
        )
        .returning({ id: conversations.id }),
    )
    return marked.map(({ id }) => id)
  }
