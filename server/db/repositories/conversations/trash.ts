// Conversations in the trash, and temporary ones that are due for removal.
import { and, asc, eq, exists, gt, inArray, isNotNull, isNull, lt, not, sql } from 'drizzle-orm'
import type { ConversationId, UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'
import { isKeptForKey } from '../runs/idempotency.ts'

/** A conversation with its owner, for work that is done for all users. */
export type OwnedConversation = { id: ConversationId; userId: UserId }

/** Maximum conversations returned at once; the caller repeats the query. */
const DUE_LIMIT = 100

/** Uses the tables `conversations`, `runs` and `idempotencyKeys`. */
export function createTrashRepository({ read, write, tables }: Database) {
  const { conversations, runs } = tables
  const columns = { id: conversations.id, userId: conversations.userId }
  const isBeyond = (after: ConversationId | null) =>
    after === null ? undefined : gt(conversations.id, after)

  return {
    /** Moves a conversation to the trash. The caller has locked it and knows that no run is active in it. */
    async add(tx: Writer, id: ConversationId, deletedAt: Date): Promise<void> {
      await tx.update(conversations).set({ deletedAt }).where(eq(conversations.id, id))
    },

    /** Restores conversations from the trash. Returns those that the user has, in the trash or elsewhere, in no order. */
    restore: (userId: UserId, ids: readonly ConversationId[]): Promise<ConversationId[]> =>
      write(async (tx) => {
        const restored = await tx
          .update(conversations)
          .set({ deletedAt: null })
          .where(and(inArray(conversations.id, [...ids]), eq(conversations.userId, userId)))
          .returning({ id: conversations.id })
        return restored.map(({ id }) => id)
      }),

    /**
     * Some of the conversations that were moved to the trash before a given time, in the order of their ids.
     * @param after the last one that was seen before.
     */
    due: (before: Date, after: ConversationId | null): Promise<OwnedConversation[]> =>
      read
        .select(columns)
        .from(conversations)
        .where(
          and(
            isNotNull(conversations.deletedAt),
            lt(conversations.deletedAt, before),
            isBeyond(after),
          ),
        )
        .orderBy(asc(conversations.id))
        .limit(DUE_LIMIT),

    /**
     * Some of the temporary conversations, created and last written in before a given time, in which no run is active and
     * which no Idempotency-Key keeps, in the order of their ids.
     * @param after the last one that was seen before.
     */
    dueTemporary: (before: Date, after: ConversationId | null): Promise<OwnedConversation[]> =>
      read
        .select(columns)
        .from(conversations)
        .where(
          and(
            sql`${conversations.temporary}`,
            lt(conversations.createdAt, before),
            lt(conversations.updatedAt, before),
            not(
              exists(
                read
                  .select({ one: sql`1` })
                  .from(runs)
                  .where(and(eq(runs.conversationId, conversations.id), isNull(runs.endedAt))),
              ),
            ),
            not(isKeptForKey(tables, conversations.id)),
            isBeyond(after),
          ),
        )
        .orderBy(asc(conversations.id))
        .limit(DUE_LIMIT),

    /** Which of these conversations are temporary. */
    async temporaryAmong(ids: readonly ConversationId[]): Promise<Set<ConversationId>> {
      const found =
        ids.length === 0
          ? []
          : await read
              .select({ id: conversations.id })
              .from(conversations)
              .where(and(inArray(conversations.id, [...ids]), sql`${conversations.temporary}`))
      return new Set(found.map(({ id }) => id))
    },
  }
}
