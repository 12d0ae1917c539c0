// The background tasks among the runs of a conversation; part of the repository of runs.
import { and, desc, eq, isNull } from 'drizzle-orm'
import type { ConversationId, UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'
import { countAll } from '../../fragments.ts'

type RunRow = Database['tables']['runs']['$inferSelect']

/** Uses the table `runs`. */
export function createBackgroundRuns(database: Database) {
  const { runs } = database.tables
  return {
    /** The active background tasks of a conversation, as the open transaction sees it. */
    async countBackground(tx: Writer, conversationId: ConversationId): Promise<number> {
      const [row] = await tx
        .select({ count: countAll })
        .from(runs)
        .where(
          and(
            eq(runs.conversationId, conversationId),
            eq(runs.kind, 'background'),
            isNull(runs.endedAt),
          ),
        )
      return row?.count ?? 0
    },

    /** The latest 200 background tasks of a conversation, newest last. */
    async background(userId: UserId, conversationId: ConversationId): Promise<RunRow[]> {
      const latest = await database.read
        .select()
        .from(runs)
        .where(
          and(
            eq(runs.conversationId, conversationId),
            eq(runs.userId, userId),
            eq(runs.kind, 'background'),
          ),
        )
        .orderBy(desc(runs.createdAt), desc(runs.id))
        .limit(200)
      return latest.reverse()
    },
  }
}
