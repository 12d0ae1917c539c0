// Checkpoints of projects: which change touched which paths, and what they held before it.
import { and, asc, desc, eq, gte, inArray, lt, or } from 'drizzle-orm'
import type { MessageId, ProjectId, UserId } from '../../protocol/ids.ts'
import type { Database } from '../database.ts'

export type CheckpointRow = Database['tables']['checkpoints']['$inferSelect']

export type CheckpointRepository = ReturnType<typeof createCheckpointRepository>

/** Ids grow with time, so they are also the order. Whoever asks has checked that the project is the user's. */
export function createCheckpointRepository(database: Database) {
  const { read, tables } = database
  const { checkpoints, conversations, messages } = tables

  return {
    /** Stores a checkpoint; one that is there already (found again after a crash) stays as it is. */
    insert: (row: CheckpointRow): Promise<void> =>
      database.write(async (tx) => {
        const [known] = await tx
          .select({ id: checkpoints.id })
          .from(checkpoints)
          .where(eq(checkpoints.id, row.id))
        if (known === undefined) await tx.insert(checkpoints).values(row)
      }),

    remove: (ids: readonly string[]): Promise<void> =>
      database.write(async (tx) => {
        if (ids.length > 0) await tx.delete(checkpoints).where(inArray(checkpoints.id, [...ids]))
      }),

    /** Newest first, one more than `limit` when there are more; `before` is the last id of the page before. */
    list: (
      projectId: ProjectId,
      { limit, before }: { limit: number; before?: string | undefined },
    ): Promise<CheckpointRow[]> =>
      read
        .select()
        .from(checkpoints)
        .where(
          and(
            eq(checkpoints.projectId, projectId),
            before === undefined ? undefined : lt(checkpoints.id, before),
          ),
        )
        .orderBy(desc(checkpoints.id))
        .limit(limit + 1),

    async find(projectId: ProjectId, id: string): Promise<CheckpointRow | undefined> {
      const [row] = await read
        .select()
        .from(checkpoints)
        .where(and(eq(checkpoints.projectId, projectId), eq(checkpoints.id, id)))
      return row
    },

    /** This checkpoint and all later ones, oldest first. */
    since: (projectId: ProjectId, id: string): Promise<CheckpointRow[]> =>
      read
        .select()
        .from(checkpoints)
        .where(and(eq(checkpoints.projectId, projectId), gte(checkpoints.id, id)))
        .orderBy(asc(checkpoints.id)),

    /** When a message of this user was made; undefined when the user has no such message. */
    async momentOfMessage(userId: UserId, messageId: MessageId): Promise<Date | undefined> {
      const [row] = await read
        .select({ createdAt: messages.createdAt })
        .from(messages)
        .innerJoin(conversations, eq(conversations.id, messages.conversationId))
        .where(and(eq(messages.id, messageId), eq(conversations.userId, userId)))
      return row?.createdAt
    },

    /** The oldest checkpoint made for this message, or at or after `moment`, when it was made. */
    async firstSince(
      projectId: ProjectId,
      messageId: MessageId,
      moment: Date,
    ): Promise<CheckpointRow | undefined> {
      const [row] = await read
        .select()
        .from(checkpoints)
        .where(
          and(
            eq(checkpoints.projectId, projectId),
            or(eq(checkpoints.messageId, messageId), gte(checkpoints.createdAt, moment)),
          ),
        )
        .orderBy(asc(checkpoints.id))
        .limit(1)
      return row
    },

    /** Ids and moments of all, newest first: what pruning decides upon. */
    ages: (projectId: ProjectId): Promise<{ id: string; createdAt: Date }[]> =>
      read
        .select({ id: checkpoints.id, createdAt: checkpoints.createdAt })
        .from(checkpoints)
        .where(eq(checkpoints.projectId, projectId))
        .orderBy(desc(checkpoints.id)),
  }
}
