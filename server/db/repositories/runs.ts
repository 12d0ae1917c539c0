// Runs and the questions they put to a person.
import { and, asc, desc, eq, inArray, isNull, sql } from 'drizzle-orm'
import type { CallId, ConversationId, MessageId, RunId, UserId } from '../../protocol/ids.ts'
import type { PendingApproval } from '../../protocol/run-event.ts'
import type { Database, Writer } from '../database.ts'
import { countAll } from '../fragments.ts'

export type RunRow = Database['tables']['runs']['$inferSelect']
export type NewRun = Database['tables']['runs']['$inferInsert']
export type ApprovalRow = Database['tables']['approvals']['$inferSelect']
export type NewApproval = Database['tables']['approvals']['$inferInsert']

export type RunRepository = ReturnType<typeof createRunRepository>

export function createRunRepository(database: Database) {
  const { runs, approvals } = database.tables

  const activeStatement = database.read
    .select()
    .from(runs)
    .where(
      and(
        eq(runs.conversationId, sql.placeholder('conversationId')),
        // Literally the condition of the partial index, of which there is one row at most.
        sql`${runs.kind} = 'chat' and ${runs.endedAt} is null`,
      ),
    )
    .limit(1)
    .prepare('active run')
  const unfinishedStatement = database.read
    .select({ count: countAll })
    .from(runs)
    .where(and(eq(runs.userId, sql.placeholder('userId')), isNull(runs.endedAt)))
    .prepare('unfinished runs')

  async function one(where: ReturnType<typeof and>): Promise<RunRow | undefined> {
    const rows = await database.read.select().from(runs).where(where).limit(1)
    return rows[0]
  }

  return {
    /** Throws the database's unique violation when the conversation has a run that is not ended. */
    async insert(tx: Writer, run: NewRun): Promise<void> {
      await tx.insert(runs).values(run)
    },

    async update(tx: Writer, id: RunId, patch: Partial<NewRun>): Promise<void> {
      await tx.update(runs).set(patch).where(eq(runs.id, id))
    },

    /** As the open transaction sees it. */
    async findIn(tx: Writer, id: RunId): Promise<RunRow | undefined> {
      const rows = await tx.select().from(runs).where(eq(runs.id, id)).limit(1)
      return rows[0]
    },

    find: (id: RunId) => one(eq(runs.id, id)),

    findOwned: (userId: UserId, id: RunId) => one(and(eq(runs.id, id), eq(runs.userId, userId))),

    /** The run of the conversation that has not ended; background tasks don't count. */
    async findActive(conversationId: ConversationId): Promise<RunRow | undefined> {
      const [row] = await activeStatement.execute({ conversationId })
      return row
    },

    findByClientId: (conversationId: ConversationId, clientId: string) =>
      one(and(eq(runs.conversationId, conversationId), eq(runs.clientId, clientId))),

    /** The run that makes this answer, if it was made by one. */
    findByMessage: (conversationId: ConversationId, messageId: MessageId) =>
      one(and(eq(runs.conversationId, conversationId), eq(runs.messageId, messageId))),

    async countUnfinished(userId: UserId): Promise<number> {
      const [row] = await unfinishedStatement.execute({ userId })
      return row?.count ?? 0
    },

    /** All runs that have not ended, oldest first: what a start has to look after. */
    async unfinished(): Promise<RunRow[]> {
      return await database.read
        .select()
        .from(runs)
        .where(isNull(runs.endedAt))
        .orderBy(asc(runs.createdAt), asc(runs.id))
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

    /**
     * A run that is picked up again asks the same question: the one that is there stays, in its place and with what was
     * decided. Only what a person is shown of one that still waits is told as it is by now.
     */
    async insertApproval(tx: Writer, approval: NewApproval): Promise<void> {
      await tx
        .insert(approvals)
        .values(approval)
        .onConflictDoUpdate({
          target: [approvals.runId, approvals.idRef],
          set: { preview: approval.preview ?? null },
          setWhere: eq(approvals.status, 'pending'),
        })
    },

    async approval(runId: RunId, idRef: string): Promise<ApprovalRow | undefined> {
      const rows = await database.read
        .select()
        .from(approvals)
        .where(and(eq(approvals.runId, runId), eq(approvals.idRef, idRef)))
        .limit(1)
      return rows[0]
    },

    async approvals(runId: RunId): Promise<ApprovalRow[]> {
      return await database.read
        .select()
        .from(approvals)
        .where(eq(approvals.runId, runId))
        .orderBy(asc(approvals.position))
    },

    /** Withdraws open questions that nobody waits for any more. */
    async withdrawApprovals(tx: Writer, runId: RunId, ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return
      await tx
        .delete(approvals)
        .where(
          and(
            eq(approvals.runId, runId),
            eq(approvals.status, 'pending'),
            inArray(approvals.idRef, [...ids]),
          ),
        )
    },

    /** Decides a pending question; false when it was decided already. */
    async decide(
      tx: Writer,
      runId: RunId,
      idRef: string,
      decision: Pick<ApprovalRow, 'status' | 'reason' | 'decidedArguments' | 'decidedAt'>,
    ): Promise<boolean> {
      const decided = await tx
        .update(approvals)
        .set(decision)
        .where(
          and(
            eq(approvals.runId, runId),
            eq(approvals.idRef, idRef),
            eq(approvals.status, 'pending'),
          ),
        )
        .returning({ idRef: approvals.idRef })
      return decided.length > 0
    },

    /** The open questions of some runs, by run. */
    async pendingApprovals(runIds: readonly RunId[]): Promise<Map<RunId, PendingApproval[]>> {
      const found = new Map<RunId, PendingApproval[]>()
      if (runIds.length === 0) return found
      const rows = await database.read
        .select()
        .from(approvals)
        .where(and(inArray(approvals.runId, [...runIds]), eq(approvals.status, 'pending')))
        .orderBy(asc(approvals.position))
      for (const row of rows) {
        const question = toPendingApproval(row)
        found.set(row.runId, [...(found.get(row.runId) ?? []), question])
      }
      return found
    },
  }
}

export const toPendingApproval = (row: ApprovalRow): PendingApproval => ({
  // Stored by us from a checked call id.
  id_ref: row.idRef as CallId,
  name: row.name,
  arguments: row.arguments,
  risk_level: row.riskLevel,
  ...(row.preview === null ? {} : { preview: row.preview }),
})
