// The runs of a user, newest first; part of the repository of runs.
import { and, desc, eq, isNull } from 'drizzle-orm'
import type { Page } from '../../../protocol/envelope.ts'
import type { UserId } from '../../../protocol/ids.ts'
import { decodeCursor, MomentCursor, toPage } from '../../cursor.ts'
import type { Database } from '../../database.ts'
import { afterMoment } from '../../fragments.ts'

/** Uses the tables `runs` and `conversations`. */
export function createRunList(database: Database) {
  const { conversations, runs } = database.tables
  const listed = {
    id: runs.id,
    conversationId: runs.conversationId,
    title: conversations.title,
    messageId: runs.messageId,
    kind: runs.kind,
    status: runs.status,
    model: runs.model,
    promptTokens: runs.promptTokens,
    completionTokens: runs.completionTokens,
    cachedTokens: runs.cachedTokens,
    cost: runs.cost,
    createdAt: runs.createdAt,
    endedAt: runs.endedAt,
  }
  const select = (userId: UserId, cursor: string | undefined) => {
    const [moment, id] = cursor === undefined ? [] : decodeCursor(MomentCursor, cursor)
    return database.read
      .select(listed)
      .from(runs)
      .innerJoin(conversations, eq(conversations.id, runs.conversationId))
      .where(
        and(
          eq(runs.userId, userId),
          isNull(conversations.deletedAt),
          eq(conversations.temporary, false),
          moment === undefined || id === undefined
            ? undefined
            : afterMoment(runs.createdAt, runs.id, new Date(moment), id),
        ),
      )
      .orderBy(desc(runs.createdAt), desc(runs.id))
  }
  type Row = Awaited<ReturnType<typeof select>>[number]

  return {
    /** Omits runs of conversations that are temporary or in the trash. */
    async list(
      userId: UserId,
      { limit, cursor }: { limit: number; cursor?: string | undefined },
    ): Promise<Page<Row>> {
      const rows = await select(userId, cursor).limit(limit + 1)
      return toPage(rows, limit, (row) => [row.createdAt.getTime(), row.id])
    },
  }
}
