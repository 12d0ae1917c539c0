// What tools ask the person behind a run: stored before it is emitted, so that it survives a restart.
import type { RunInputRow } from '../../db/repositories/runs/run-inputs.ts'
import { toPendingInput } from '../../db/repositories/runs/run-inputs.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { Store } from '../../db/store.ts'
import type { InputAnswer } from '../../protocol/runs/input.ts'
import type { InputRound, PersonInput } from '../../tools/person-input.ts'
import type { ActiveRun } from '../active-run.ts'
import type { WriteGroup } from '../group-commit.ts'
import type { Recorder } from '../recorder.ts'
import type { Waiting } from '../waiting.ts'

interface Dependencies {
  active: Pick<ActiveRun, 'runLog' | 'waitForInput'>
  run: Pick<RunRow, 'id' | 'attempt'>
  store: Pick<Store, 'runs' | 'runInputs'>
  writes: WriteGroup
  waiting: Waiting
  recorder: Pick<Recorder, 'begin' | 'notBegun'>
  now(): Date
}

/** The `person` of the tool context. */
export function createPersonInput(dependencies: Dependencies): PersonInput {
  const { active, run, store, writes, waiting, recorder } = dependencies

  /** Stores the round unless it is stored already. Returns its questions. */
  const storeRound = async (
    callId: string,
    round: InputRound,
    ids: readonly string[],
  ): Promise<RunInputRow[]> => {
    let rows: RunInputRow[] = []
    await writes.commit(async (tx) => {
      // Lock the run first, in the order that an answer uses.
      await store.runs.lockAttempt(tx, run)
      await store.runInputs.insert(
        tx,
        round.questions.map((question, position) => ({
          runId: run.id,
          idRef: ids[position] ?? '',
          callId,
          round: round.number,
          position,
          question: question.question,
          key: question.key,
          requestState: round.state,
          createdAt: dependencies.now(),
        })),
      )
      rows = await store.runInputs.ofCall(tx, run.id, callId)
      // Until the question is answered, the call has had no effect, so it is safe to repeat.
      if (isOpen(rows)) {
        await recorder.notBegun(callId)(tx)
        await waiting.begin('awaiting_input')(tx)
      }
    })
    return rows.filter((row) => row.round === round.number)
  }

  const answerTo = async (row: RunInputRow, answer: Promise<InputAnswer>): Promise<InputAnswer> => {
    if (row.answer !== null) return row.answer
    const question = toPendingInput(row)
    return await waiting.until({
      answer,
      ask: () =>
        active.runLog.appendEvent({ event: 'input_required', run_id: run.id, ...question }),
      settle({ action }) {
        active.runLog.settleInput(row.idRef)
        active.runLog.reportProgress({
          id_ref: question.call_ref,
          progress: { kind: 'input_answered', input: row.idRef, action },
        })
      },
    })
  }

  return {
    async rounds(callId) {
      // On its first attempt, a call has not asked anything yet.
      if (run.attempt === 1) return []
      let rows: RunInputRow[] = []
      await writes.commit(async (tx) => {
        rows = await store.runInputs.ofCall(tx, run.id, callId)
      })
      const numbers = [...new Set(rows.map(({ round }) => round))]
      return numbers.map((number) => {
        const ofRound = rows.filter(({ round }) => round === number)
        return {
          number,
          questions: ofRound.map(({ key, question }) => ({ key, question })),
          state: ofRound[0]?.requestState ?? null,
        }
      })
    },
    async ask(callId, round) {
      const ids = round.questions.map((_question, position) =>
        inputId(callId, round.number, position),
      )
      // Subscribe first, so that no answer is missed: it either arrives here or the transaction finds it.
      const inputs = ids.map((id) => active.waitForInput(id))
      const rows = await storeRound(callId, round, ids)
      const given = await Promise.all(
        rows.map((row, position) =>
          answerTo(row, inputs[position] ?? active.waitForInput(row.idRef)),
        ),
      )
      await recorder.begin({ id: callId })
      return given
    },
    async close(callId) {
      await writes.commit((tx) => store.runInputs.remove(tx, run.id, callId))
    },
  }
}

/** The first question of a call has the same id as the call. */
const inputId = (callId: string, round: number, position: number): string =>
  round + position === 0 ? callId : `${callId}.${round}.${position}`

const isOpen = (rows: readonly RunInputRow[]): boolean => rows.some(({ answer }) => answer === null)
