// Exports and imports: their jobs, what an export reads, and what an import stores.
import { and, asc, desc, eq, gt, isNotNull, isNull, lt, or, sql } from 'drizzle-orm'
import type { ConversationId, TransferId, UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'

/** A row of `transfers`: an export or import. */
export type TransferRow = Database['tables']['transfers']['$inferSelect']
type ConversationRow = Database['tables']['conversations']['$inferSelect']

/** Conversations that an export reads at once; each may have a long system prompt. */
const READ_BATCH_SIZE = 20

/** Uses the tables `transfers` and `conversations`. */
export function createTransferRepository(database: Database) {
  const { read, write, tables } = database
  const { transfers, conversations } = tables

  return {
    /** `after` is part of it. */
    create: (row: TransferRow, after?: (tx: Writer) => Promise<void>): Promise<void> =>
      write(async (tx) => {
        await tx.insert(transfers).values(row)
        await after?.(tx)
      }),

    update: (
      id: TransferId,
      changes: Partial<
        Pick<
          TransferRow,
          'status' | 'format' | 'done' | 'total' | 'size' | 'report' | 'failure' | 'endedAt'
        >
      >,
    ): Promise<void> =>
      write(
        async (tx) => void (await tx.update(transfers).set(changes).where(eq(transfers.id, id))),
      ),

    async find(
      userId: UserId,
      kind: TransferRow['kind'],
      id: TransferId,
    ): Promise<TransferRow | undefined> {
      const [row] = await read
        .select()
        .from(transfers)
        .where(and(eq(transfers.id, id), eq(transfers.userId, userId), eq(transfers.kind, kind)))
      return row
    },

    /** The newest jobs of a user, newest first. */
    list: (userId: UserId, kind: TransferRow['kind'], limit: number): Promise<TransferRow[]> =>
      read
        .select()
        .from(transfers)
        .where(and(eq(transfers.userId, userId), eq(transfers.kind, kind)))
        .orderBy(desc(transfers.createdAt), desc(transfers.id))
        .limit(limit),

    /** All jobs that have not ended, of all users. */
    unfinished: (): Promise<TransferRow[]> =>
      read.select().from(transfers).where(isNull(transfers.endedAt)),

    /** Removes the jobs that ended before a given time. @returns their ids. */
    removeEnded: (kind: TransferRow['kind'], before: Date): Promise<{ id: TransferId }[]> =>
      write((tx) =>
        tx
          .delete(transfers)
          .where(
            and(
              eq(transfers.kind, kind),
              isNotNull(transfers.endedAt),
              lt(transfers.endedAt, before),
            ),
          )
          .returning({ id: transfers.id }),
      ),

    remove: (id: TransferId): Promise<void> =>
      write(async (tx) => void (await tx.delete(transfers).where(eq(transfers.id, id)))),

    /** All conversations of a user outside the trash, oldest first, except temporary ones. */
    conversationsOf: (userId: UserId) => conversationsOf(database, userId),

    async countConversations(userId: UserId): Promise<number> {
      const [row] = await read
        .select({ count: sql`count(*)`.mapWith(Number) })
        .from(conversations)
        .where(
          and(
            eq(conversations.userId, userId),
            isNull(conversations.deletedAt),
            eq(conversations.temporary, false),
          ),
        )
      return row?.count ?? 0
    },

    /**
     * The user's conversation that was imported from an origin, or has the id that the origin names because it was exported
     * here.
     */
    findByOrigin: (userId: UserId, origin: string, ownId: ConversationId | null) =>
      findByOrigin(database, userId, origin, ownId),
  }
}

async function* conversationsOf(
  database: Database,
  userId: UserId,
): AsyncGenerator<ConversationRow> {
  const { read } = database
  const { conversations } = database.tables
  let last = ''
  for (;;) {
    const rows = await read
      .select()
      .from(conversations)
      .where(
        and(
          eq(conversations.userId, userId),
          isNull(conversations.deletedAt),
          eq(conversations.temporary, false),
          gt(conversations.id, sql`${last}`),
        ),
      )
      .orderBy(asc(conversations.id))
      .limit(READ_BATCH_SIZE)
    yield* rows
    last = rows.at(-1)?.id ?? ''
    if (rows.length < READ_BATCH_SIZE) return
  }
}

async function findByOrigin(
  database: Database,
  userId: UserId,
  origin: string,
  ownId: ConversationId | null,
): Promise<Pick<ConversationRow, 'id' | 'deletedAt'> | undefined> {
  const { read } = database
  const { conversations } = database.tables
  const [row] = await read
    .select({ id: conversations.id, deletedAt: conversations.deletedAt })
    .from(conversations)
    .where(
      and(
        eq(conversations.userId, userId),
        or(
          and(isNotNull(conversations.origin), eq(conversations.origin, origin)),
          ownId === null ? undefined : eq(conversations.id, ownId),
        ),
      ),
    )
    .limit(1)
  return row
}
