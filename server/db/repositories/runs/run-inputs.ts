// Questions that MCP servers ask the person of a run, and the answers.
import { and, asc, eq, inArray, isNotNull, isNull } from 'drizzle-orm'
import type { CallId, RunId } from '../../../protocol/ids.ts'
import type { InputAnswer, PendingInput } from '../../../protocol/runs/input.ts'
import { visibleValue } from '../../../protocol/runs/visible-text.ts'
import type { Database, Writer } from '../../database.ts'

/** A row of `run_inputs`: one question of an MCP server and its answer. */
export type RunInputRow = Database['tables']['runInputs']['$inferSelect']
/** A new row of `run_inputs`. */
export type NewRunInput = Database['tables']['runInputs']['$inferInsert']

/** Uses the table `runInputs`. */
export function createRunInputRepository(database: Database) {
  const { runInputs } = database.tables
  return {
    /** Stores the questions of a round; those that an earlier attempt stored stay, with their answers. */
    async insert(tx: Writer, rows: readonly NewRunInput[]): Promise<void> {
      if (rows.length > 0)
        await tx
          .insert(runInputs)
          .values([...rows])
          .onConflictDoNothing({ target: [runInputs.runId, runInputs.idRef] })
    },

    /** The questions of a call, as the open transaction sees them, in the order in which they were asked. */
    async ofCall(tx: Writer, runId: RunId, callId: string): Promise<RunInputRow[]> {
      return await tx
        .select()
        .from(runInputs)
        .where(and(eq(runInputs.runId, runId), eq(runInputs.callId, callId)))
        .orderBy(asc(runInputs.round), asc(runInputs.position))
    },

    async find(runId: RunId, idRef: string): Promise<RunInputRow | undefined> {
      const rows = await database.read
        .select()
        .from(runInputs)
        .where(and(eq(runInputs.runId, runId), eq(runInputs.idRef, idRef)))
        .limit(1)
      return rows[0]
    },

    /** Answers a question; false when it was already answered. */
    async answer(tx: Writer, runId: RunId, idRef: string, answer: InputAnswer): Promise<boolean> {
      const answered = await tx
        .update(runInputs)
        .set({ answer })
        .where(
          and(eq(runInputs.runId, runId), eq(runInputs.idRef, idRef), isNull(runInputs.answer)),
        )
        .returning({ idRef: runInputs.idRef })
      return answered.length > 0
    },

    /** The unanswered questions of some runs, by run. */
    async pending(runIds: readonly RunId[]): Promise<Map<RunId, PendingInput[]>> {
      const found = new Map<RunId, PendingInput[]>()
      if (runIds.length === 0) return found
      const rows = await database.read
        .select()
        .from(runInputs)
        .where(and(inArray(runInputs.runId, [...runIds]), isNull(runInputs.answer)))
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
        .where(and(eq(runInputs.runId, runId), isNotNull(runInputs.answer)))
      return rows.flatMap(({ idRef, answer }) => (answer === null ? [] : { idRef, answer }))
    },

    /** Removes the questions of a call that has its result, or of a whole run that has ended. */
    async remove(tx: Writer, runId: RunId, callId?: string): Promise<void> {
      await tx
        .delete(runInputs)
        .where(
          and(
            eq(runInputs.runId, runId),
            callId === undefined ? undefined : eq(runInputs.callId, callId),
          ),
        )
    },
  }
}

/** A stored question as it is sent to clients. */
export const toPendingInput = ({ idRef, callId, question }: RunInputRow): PendingInput => ({
  ...visibleValue({ ...question, url: undefined }),
  ...(question.url === undefined ? {} : { url: question.url }),
  id_ref: idRef,
  // Stored from a checked call id.
  call_ref: callId as CallId,
})
