// Questions that MCP servers ask the person of a run, and the answers.
import { and, asc, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm'
import type { CallId, RunId } from '../../../protocol/ids.ts'
import type { InputAnswer, PendingInput } from '../../../protocol/runs/input.ts'
import { visibleValue } from '../../../protocol/runs/visible-text.ts'
import type { Database, Writer } from '../../database.ts'
import type { SettledRequest } from './approvals.ts'

/** A row of `run_inputs`: one question of an MCP server and its answer. */
export type RunInputRow = Database['tables']['runInputs']['$inferSelect']
/** A new row of `run_inputs`. */
export type NewRunInput = Database['tables']['runInputs']['$inferInsert']

/**
 * Between the id of a question and its own `id`, in a row that is history because the question was asked again. Ids of calls
 * are text from models, so the mark is a character that no model writes.
 */
const EARLIER = '\u{E000}'

/** Uses the table `runInputs`. */
export function createRunInputRepository(database: Database) {
  const { runInputs } = database.tables
  const isOpen = isNull(runInputs.closedAt)
  const { id, status, decidedThrough } = runInputs
  const settled = { id, status, decidedThrough }
  return {
    /**
     * Stores the questions of a round; those that an earlier attempt stored stay, with their answers. Closed ones stay as history and
     * are asked again. Returns the ids of those that did not wait before.
     */
    insert: (tx: Writer, rows: readonly NewRunInput[]) => insert(database, tx, rows),

    /** The questions of a call, as the open transaction sees them, in the order in which they were asked. */
    async ofCall(tx: Writer, runId: RunId, callId: string): Promise<RunInputRow[]> {
      return await tx
        .select()
        .from(runInputs)
        .where(and(eq(runInputs.runId, runId), eq(runInputs.callId, callId), isOpen))
        .orderBy(asc(runInputs.round), asc(runInputs.position))
    },

    /** Also one that is closed. */
    find: (runId: RunId, idRef: string) => find(database, runId, idRef),

    /** Answers a question; undefined when it was already answered. */
    async answer(
      tx: Writer,
      { runId, idRef }: Pick<RunInputRow, 'runId' | 'idRef'>,
      answer: Pick<RunInputRow, 'answer' | 'status' | 'decidedAt' | 'decidedBy' | 'decidedThrough'>,
    ): Promise<SettledRequest | undefined> {
      const [answered] = await tx
        .update(runInputs)
        .set(answer)
        .where(
          and(
            eq(runInputs.runId, runId),
            eq(runInputs.idRef, idRef),
            isNull(runInputs.answer),
            isOpen,
          ),
        )
        .returning(settled)
      return answered
    },

    /** The unanswered questions of some runs, by run. */
    async pending(runIds: readonly RunId[]): Promise<Map<RunId, PendingInput[]>> {
      const found = new Map<RunId, PendingInput[]>()
      if (runIds.length === 0) return found
      const rows = await database.read
        .select()
        .from(runInputs)
        .where(and(inArray(runInputs.runId, [...runIds]), isNull(runInputs.answer), isOpen))
        .orderBy(asc(runInputs.createdAt), asc(runInputs.round), asc(runInputs.position))
      for (const row of rows)
        found.set(row.runId, [...(found.get(row.runId) ?? []), toPendingInput(row)])
      return found
    },

    /** The answered questions of a run. */
    async answered(runId: RunId): Promise<{ idRef: string; answer: InputAnswer }[]> {
      const rows = await database.read
        .select({ idRef: runInputs.idRef, answer: runInputs.answer })
        .from(runInputs)
        .where(and(eq(runInputs.runId, runId), isNotNull(runInputs.answer), isOpen))
      return rows.flatMap(({ idRef, answer }) => (answer === null ? [] : { idRef, answer }))
    },

    /**
     * Closes the questions of a call that has its result, or of a whole run that has ended: unanswered ones become void, and
     * answers are removed. Returns those that nobody answered.
     */
    async close(
      tx: Writer,
      { runId, callId, at }: { runId: RunId; callId?: string; at: Date },
    ): Promise<SettledRequest[]> {
      const ofCall = callId === undefined ? undefined : eq(runInputs.callId, callId)
      const isAsked = and(eq(runInputs.runId, runId), ofCall, isOpen)
      const unanswered = await tx
        .update(runInputs)
        .set({ closedAt: at, status: 'void', decidedAt: at })
        .where(and(isAsked, isNull(runInputs.answer)))
        .returning(settled)
      await tx
        .update(runInputs)
        .set({
          closedAt: at,
          answer: null,
          // A version without the list stores only the answer.
          status: sql`case when ${runInputs.status} = 'pending' then 'answered' else ${runInputs.status} end`,
        })
        .where(isAsked)
      return unanswered
    },
  }
}

async function insert(
  database: Database,
  tx: Writer,
  rows: readonly NewRunInput[],
): Promise<string[]> {
  const { runInputs } = database.tables
  const [first] = rows
  if (first === undefined) return []
  const ids = rows.map(({ idRef }) => idRef)
  await tx
    .update(runInputs)
    .set({ idRef: sql`${runInputs.idRef} || ${EARLIER} || ${runInputs.id}` })
    .where(
      and(
        eq(runInputs.runId, first.runId),
        inArray(runInputs.idRef, ids),
        isNotNull(runInputs.closedAt),
      ),
    )
  const inserted = await tx
    .insert(runInputs)
    .values([...rows])
    .onConflictDoUpdate({
      target: [runInputs.runId, runInputs.idRef],
      // A version without the list has stored it: it was in nobody's list.
      set: { userId: first.userId },
      setWhere: sql`${runInputs.userId} = '' and ${runInputs.answer} is null`,
    })
    .returning({ id: runInputs.id })
  return inserted.map(({ id }) => id)
}

async function find(
  database: Database,
  runId: RunId,
  idRef: string,
): Promise<RunInputRow | undefined> {
  const { runInputs } = database.tables
  const rows = await database.read
    .select()
    .from(runInputs)
    .where(and(eq(runInputs.runId, runId), eq(runInputs.idRef, idRef)))
    .limit(1)
  return rows[0]
}

/** A stored question as it is sent to clients. */
export const toPendingInput = ({ idRef, callId, question }: RunInputRow): PendingInput => ({
  ...visibleValue({ ...question, url: undefined }),
  ...(question.url === undefined ? {} : { url: question.url }),
  id_ref: askedId(idRef),
  // Stored from a checked call id.
  call_ref: callId as CallId,
})

/** The id of a question as its call knows it, also in a row that is history. */
export const askedId = (idRef: string): string => idRef.split(EARLIER, 1)[0] ?? idRef
