// Approval requests of runs and the decisions on them; part of the repository of runs.
import { and, asc, eq, inArray } from 'drizzle-orm'
import type { CallId, RunId } from '../../../protocol/ids.ts'
import type { PendingApproval } from '../../../protocol/runs/run-event.ts'
import { visibleText, visibleValue } from '../../../protocol/runs/visible-text.ts'
import type { Database, Writer } from '../../database.ts'

/** A row of `approvals`: one approval request and its decision. */
export type ApprovalRow = Database['tables']['approvals']['$inferSelect']
type NewApproval = Database['tables']['approvals']['$inferInsert']

/** Uses the table `approvals`. */
export function createApprovals(database: Database) {
  const { approvals } = database.tables
  return {
    /**
     * Stores an approval request. A resumed run requests the same approval again: the stored request keeps its position and
     * its decision, and only the preview of a pending one is updated. Returns the request as stored.
     */
    async insertApproval(tx: Writer, approval: NewApproval): Promise<ApprovalRow | undefined> {
      await tx
        .insert(approvals)
        .values(approval)
        .onConflictDoUpdate({
          target: [approvals.runId, approvals.idRef],
          set: { preview: approval.preview ?? null },
          setWhere: eq(approvals.status, 'pending'),
        })
      const [row] = await tx
        .select()
        .from(approvals)
        .where(and(eq(approvals.runId, approval.runId), eq(approvals.idRef, approval.idRef)))
      return row
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
        .orderBy(asc(approvals.createdAt), asc(approvals.position))
    },

    /** Removes pending requests that no attempt waits for any more. */
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

    /** Decides a pending request; false when it was already decided. */
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

    /** The pending requests of some runs, by run. */
    async pendingApprovals(runIds: readonly RunId[]): Promise<Map<RunId, PendingApproval[]>> {
      const found = new Map<RunId, PendingApproval[]>()
      if (runIds.length === 0) return found
      const rows = await database.read
        .select()
        .from(approvals)
        .where(and(inArray(approvals.runId, [...runIds]), eq(approvals.status, 'pending')))
        .orderBy(asc(approvals.position), asc(approvals.createdAt))
      for (const row of rows) {
        const request = toPendingApproval(row)
        found.set(row.runId, [...(found.get(row.runId) ?? []), request])
      }
      return found
    },
  }
}

/** A stored approval request as it is sent to clients. */
export const toPendingApproval = (row: ApprovalRow): PendingApproval => ({
  // Stored from a checked call id.
  id_ref: row.idRef as CallId,
  name: row.name,
  arguments: visibleText(row.arguments),
  risk_level: row.riskLevel,
  ...(row.preview === null ? {} : { preview: visibleValue(row.preview) }),
})
