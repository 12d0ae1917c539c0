// Approval requests of runs and the decisions on them; part of the repository of runs.
import { and, asc, eq, inArray, not } from 'drizzle-orm'
import { callHash } from '../../../lib/call-hash.ts'
import type { CallId, RunId } from '../../../protocol/ids.ts'
import { fieldsOf, parseJson } from '../../../protocol/read-json.ts'
import type { PendingApproval } from '../../../protocol/runs/run-event.ts'
import { visibleText, visibleValue } from '../../../protocol/runs/visible-text.ts'
import type { Database, Writer } from '../../database.ts'

/** A row of `approvals`: one approval request and its decision. */
export type ApprovalRow = Database['tables']['approvals']['$inferSelect']

/** A decision that can be stored: everything but what a person was asked. */
type StoredDecision = Pick<ApprovalRow, 'status' | 'decidedAt'> &
  Partial<Pick<ApprovalRow, 'reason' | 'decidedArguments' | 'decidedBy' | 'decidedThrough'>>

/** What others learn of a request that no longer waits. `decidedThrough` is null for one that became void. */
export type SettledRequest = Pick<ApprovalRow, 'id' | 'status' | 'decidedThrough'>

/** Uses the table `approvals`. */
export function createApprovals(database: Database) {
  const { approvals } = database.tables
  const { id, status, decidedThrough } = approvals
  const settled = { id, status, decidedThrough }
  const isPending = eq(approvals.status, 'pending')

  return {
    storedApproval: (tx: Writer, call: Pick<ApprovalRow, 'runId' | 'idRef'>) =>
      storedApproval(database, tx, call),

    /**
     * Stores a request. A resumed run requests the same approval again: the stored request keeps its position and its
     * decision, and only the preview of a pending one is updated. One that became void waits again. Returns the request as
     * stored, and whether it did not wait before.
     */
    insertApproval: (tx: Writer, request: ApprovalRow) => insertApproval(database, tx, request),

    async approval(runId: RunId, idRef: string): Promise<ApprovalRow | undefined> {
      const rows = await database.read
        .select()
        .from(approvals)
        .where(and(eq(approvals.runId, runId), eq(approvals.idRef, idRef)))
        .limit(1)
      return rows[0]
    },

    /** The approval requests of a run, decided ones among them. */
    async approvals(runId: RunId): Promise<ApprovalRow[]> {
      return await database.read
        .select()
        .from(approvals)
        .where(eq(approvals.runId, runId))
        .orderBy(asc(approvals.createdAt), asc(approvals.position))
    },

    /** Marks pending approval requests that no attempt waits for any more as void. */
    async withdrawApprovals(
      tx: Writer,
      runId: RunId,
      ids: readonly string[],
      at: Date,
    ): Promise<SettledRequest[]> {
      if (ids.length === 0) return []
      return await tx
        .update(approvals)
        .set({ status: 'void', decidedAt: at })
        .where(and(eq(approvals.runId, runId), isPending, inArray(approvals.idRef, [...ids])))
        .returning(settled)
    },

    /** Marks the approval requests that a run which ends still waits for as void. Apps still wait for theirs. */
    async withdrawAllApprovals(tx: Writer, runId: RunId, at: Date): Promise<SettledRequest[]> {
      return await tx
        .update(approvals)
        .set({ status: 'void', decidedAt: at })
        .where(and(eq(approvals.runId, runId), isPending, not(approvals.byApp)))
        .returning(settled)
    },

    /** Decides a pending request; undefined when it was already decided. */
    async decide(
      tx: Writer,
      { runId, idRef }: Pick<ApprovalRow, 'runId' | 'idRef'>,
      decision: StoredDecision,
    ): Promise<SettledRequest | undefined> {
      const [decided] = await tx
        .update(approvals)
        .set(decision)
        .where(and(eq(approvals.runId, runId), eq(approvals.idRef, idRef), isPending))
        .returning(settled)
      return decided
    },

    /** The pending approval requests of some runs, by run. `byApp`: those of apps instead of the model's. */
    async pendingApprovals(
      runIds: readonly RunId[],
      { byApp = false }: { byApp?: boolean } = {},
    ): Promise<Map<RunId, PendingApproval[]>> {
      const found = new Map<RunId, PendingApproval[]>()
      if (runIds.length === 0) return found
      const rows = await database.read
        .select()
        .from(approvals)
        .where(and(inArray(approvals.runId, [...runIds]), isPending, eq(approvals.byApp, byApp)))
        .orderBy(asc(approvals.position), asc(approvals.createdAt))
      for (const row of rows) {
        const request = toPendingApproval(row)
        found.set(row.runId, [...(found.get(row.runId) ?? []), request])
      }
      return found
    },
  }
}

async function insertApproval(
  database: Database,
  tx: Writer,
  request: ApprovalRow,
): Promise<{ stored: ApprovalRow; isNew: boolean }> {
  const { approvals } = database.tables
  const { userId, preview, createdAt, deadline } = request
  const stored = await storedApproval(database, tx, request)
  if (stored === undefined) {
    await tx.insert(approvals).values(request)
    return { stored: request, isNew: true }
  }
  if (stored.status !== 'pending' && stored.status !== 'void') return { stored, isNew: false }
  // One that a version without the list has stored was in nobody's list.
  const isNew = stored.status === 'void' || stored.userId !== userId
  const again =
    stored.status === 'void'
      ? { userId, status: 'pending' as const, decidedAt: null, createdAt, deadline, preview }
      : { userId, preview }
  await tx
    .update(approvals)
    .set(again)
    .where(and(eq(approvals.runId, request.runId), eq(approvals.idRef, request.idRef)))
  return { stored: { ...stored, ...again }, isNew }
}

/** A request as the open transaction sees it. */
async function storedApproval(
  database: Database,
  tx: Writer,
  { runId, idRef }: Pick<ApprovalRow, 'runId' | 'idRef'>,
): Promise<ApprovalRow | undefined> {
  const { approvals } = database.tables
  const [stored] = await tx
    .select()
    .from(approvals)
    .where(and(eq(approvals.runId, runId), eq(approvals.idRef, idRef)))
  return stored
}

/** The arguments of a call as the model wrote them. */
export const writtenArguments = ({ arguments: text }: Pick<ApprovalRow, 'arguments'>) =>
  fieldsOf(parseJson(text))

/** The hash of the call; requests from before hashes were stored have none. */
export const hashOfRequest = (
  row: Pick<ApprovalRow, 'runId' | 'idRef' | 'name' | 'arguments' | 'callHash'>,
): string =>
  row.callHash ??
  callHash({
    run_id: row.runId,
    id_ref: row.idRef,
    name: row.name,
    arguments: writtenArguments(row),
  })

/** A stored approval request as it is sent to clients. */
export const toPendingApproval = (row: ApprovalRow): PendingApproval => ({
  // Stored from a checked call id.
  id_ref: row.idRef as CallId,
  approval_id: row.id,
  call_hash: hashOfRequest(row),
  deadline: row.deadline?.toISOString() ?? null,
  name: row.name,
  arguments: visibleText(row.arguments),
  risk_level: row.riskLevel,
  ...(row.byApp ? { origin: 'app' as const } : {}),
  ...(row.preview === null ? {} : { preview: visibleValue(row.preview) }),
})
