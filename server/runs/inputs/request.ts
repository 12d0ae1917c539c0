// What tools ask the person behind a run: stored before it is emitted, so that it survives a restart.

import type { SettledRequest } from '../../db/repositories/runs/approvals.ts'
import type { RunInputRow } from '../../db/repositories/runs/run-inputs.ts'
import { toPendingInput } from '../../db/repositories/runs/run-inputs.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { Store } from '../../db/store.ts'
import { callHash } from '../../lib/call-hash.ts'
import { newId } from '../../lib/ids.ts'
import type { CallId } from '../../protocol/ids.ts'
import type { InputAnswer } from '../../protocol/runs/input.ts'
import type { InputRound, PersonInput } from '../../tools/person-input.ts'
import type { ActiveRun } from '../active-run.ts'
import type { ChatDependencies, RunNotices } from '../dependencies.ts'
import type { WriteGroup } from '../group-commit.ts'
import type { Recorder } from '../recorder.ts'
import {
  announceRequest,
  announceSettled,
  answerInTime,
  deadlineAfter,
  expireRequest,
  noticeSettled,
  type TellRequest,
  type Waiting,
} from '../requests.ts'
import type { RunOptions } from '../state.ts'

interface Dependencies {
  active: Pick<ActiveRun, 'runLog' | 'waitForInput' | 'answer' | 'signal'>
  run: Pick<RunRow, 'id' | 'userId' | 'conversationId' | 'projectId' | 'messageId' | 'attempt'>
  notices?: RunNotices
  /** Whether the conversation contains text from outside. */
  taint: { isTainted(): boolean }
  /** Seconds after which a question expires; undefined: none does. */
  deadline: RunOptions['approvalDeadline']
  announce: ChatDependencies['announce']
  /** Tells the person of the request while it waits. */
  tell: TellRequest
  store: Pick<Store, 'runs' | 'runInputs'>
  writes: WriteGroup
  waiting: Waiting
  recorder: Pick<Recorder, 'begin' | 'notBegun'>
  now(): Date
}

/** The `person` of the tool context. */
export function createPersonInput(dependencies: Dependencies): PersonInput {
  return {
    rounds: (callId) => rounds(dependencies, callId),
    ask: (callId, round) => ask(dependencies, callId, round),
    close: (callId) => close(dependencies, callId),
  }
}

/** Stores the round unless it is stored already. Returns its questions. */
async function storeRound(
  dependencies: Dependencies,
  callId: string,
  round: InputRound,
  ids: readonly string[],
): Promise<RunInputRow[]> {
  let rows: RunInputRow[] = []
  let asked: string[] = []
  const createdAt = dependencies.now()
  await dependencies.writes.commit(async (tx) => {
    // Lock the run first, in the order that an answer uses.
    await dependencies.store.runs.lockAttempt(tx, dependencies.run)
    asked = await dependencies.store.runInputs.insert(
      tx,
      round.questions.map((question, position) => ({
        runId: dependencies.run.id,
        idRef: ids[position] ?? '',
        id: newId<string>(),
        userId: dependencies.run.userId,
        tainted: dependencies.taint.isTainted(),
        callHash: callHash({ run_id: dependencies.run.id, id_ref: ids[position] ?? '' }),
        callId,
        round: round.number,
        position,
        question: question.question,
        key: question.key,
        requestState: round.state,
        createdAt,
        deadline: deadlineAfter(createdAt, dependencies.deadline),
      })),
    )
    rows = await dependencies.store.runInputs.ofCall(tx, dependencies.run.id, callId)
    // Until the question is answered, the call has had no effect, so it is safe to repeat.
    if (isOpen(rows)) {
      await dependencies.recorder.notBegun(callId)(tx)
      await dependencies.waiting.begin(tx, 'awaiting_input')
    }
  })
  for (const id of asked) announceRequest(dependencies.run, id, 'created', dependencies)
  return rows.filter((row) => row.round === round.number)
}

async function answerTo(
  dependencies: Dependencies,
  row: RunInputRow,
  answer: Promise<InputAnswer>,
): Promise<InputAnswer> {
  if (row.answer !== null) return row.answer
  const question = toPendingInput(row)
  return await dependencies.waiting.until({
    answer: answerInTime({
      answer,
      deadline: row.deadline,
      now: dependencies.now,
      signal: dependencies.active.signal,
      expire: () => expire(dependencies, row),
      tell: (signal) =>
        dependencies.tell(
          {
            ...row,
            type: 'input',
            name: row.question.server,
            riskLevel: null,
            preview: null,
          },
          { run: dependencies.run, runLog: dependencies.active.runLog, signal },
        ),
    }),
    ask: () =>
      dependencies.active.runLog.appendEvent({
        event: 'input_required',
        run_id: dependencies.run.id,
        ...question,
      }),
    settle({ action }) {
      dependencies.active.runLog.settleInput(row.idRef)
      dependencies.active.runLog.reportProgress({
        id_ref: question.call_ref,
        progress: { kind: 'input_answered', input: row.idRef, action },
      })
    },
  })
}

async function expire(dependencies: Dependencies, row: RunInputRow): Promise<void> {
  const stored = await expireRequest(
    {
      run: dependencies.run,
      mark: (tx, decidedAt) =>
        dependencies.store.runInputs.answer(tx, row, {
          answer: { action: 'cancel' },
          status: 'expired',
          decidedAt,
          decidedBy: null,
          decidedThrough: 'deadline',
        }),
      read: (tx) => dependencies.store.runInputs.ofCall(tx, dependencies.run.id, row.callId),
    },
    dependencies,
  )
  const answer = stored.find(({ idRef }) => idRef === row.idRef)?.answer ?? null
  if (answer !== null) dependencies.active.answer(row.idRef, answer)
}

async function rounds(dependencies: Dependencies, callId: CallId): Promise<InputRound[]> {
  // On its first attempt, a call has not asked anything yet.
  if (dependencies.run.attempt === 1) return []
  let rows: RunInputRow[] = []
  await dependencies.writes.commit(async (tx) => {
    rows = await dependencies.store.runInputs.ofCall(tx, dependencies.run.id, callId)
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
}

async function ask(
  dependencies: Dependencies,
  callId: CallId,
  round: InputRound,
): Promise<InputAnswer[]> {
  const ids = round.questions.map((_question, position) => inputId(callId, round.number, position))
  // Subscribe first, so that no answer is missed: it either arrives here or the transaction finds it.
  const inputs = ids.map((id) => dependencies.active.waitForInput(id))
  const rows = await storeRound(dependencies, callId, round, ids)
  const given = await Promise.all(
    rows.map((row, position) =>
      answerTo(dependencies, row, inputs[position] ?? dependencies.active.waitForInput(row.idRef)),
    ),
  )
  await dependencies.recorder.begin({ id: callId })
  return given
}

async function close(dependencies: Dependencies, callId: CallId): Promise<void> {
  let unanswered: SettledRequest[] = []
  await dependencies.writes.commit(async (tx) => {
    unanswered = await dependencies.store.runInputs.close(tx, {
      runId: dependencies.run.id,
      callId,
      at: dependencies.now(),
    })
    await noticeSettled(tx, dependencies.run, unanswered, dependencies)
  })
  announceSettled(dependencies.run, unanswered, dependencies)
}

/** The first question of a call has the same id as the call. */
const inputId = (callId: string, round: number, position: number): string =>
  round + position === 0 ? callId : `${callId}.${round}.${position}`

const isOpen = (rows: readonly RunInputRow[]): boolean => rows.some(({ answer }) => answer === null)
