// Ends a run: stores the outcome in one transaction.

import { iterationsOf } from '../../agent/history.ts'
import { inParallel } from '../../db/in-parallel.ts'
import type { NewRun } from '../../db/repositories/runs/runs.ts'
import { type AppError, appError, errorText } from '../../errors.ts'
import type {
  DoneEvent,
  ErrorEvent,
  FinishReason,
  ReachedLimit,
  RunEvent,
} from '../../protocol/runs/run-event.ts'
import { reasoningIn } from '../../protocol/runs/run-timeline.ts'
import type { Write } from '../group-commit.ts'
import type { PerformedRun } from '../performed-run.ts'
import type { Recorder } from '../recorder.ts'
import { readRunOptions } from '../state.ts'
import { runFailure } from './run-failure.ts'

/** An outcome that is stored. */
export type StoredEnding =
  | { kind: 'done'; finish: FinishReason }
  | { kind: 'error'; error: AppError }

/** How the work on a run ended. `suspended`: the server is shutting down, and the next start continues the run. */
export type Ending = StoredEnding | { kind: 'suspended' }

/** The last text of the answer so far. */
export const answerText = (recorder: Recorder): string =>
  iterationsOf(recorder.steps()).findLast((iteration) => iteration.text !== '')?.text ?? ''

/** Stores the outcome of the run in one transaction, then emits the terminal event. */
export async function storeEnd(
  performed: PerformedRun,
  ending: StoredEnding,
  title: string | null,
  recorder: Recorder,
): Promise<void> {
  const { active, run, state, usage, timeline, journal } = performed
  const { store, log, now, redact, notices } = performed.dependencies
  await journal.close()
  const total = await usage.total()
  const stopped = ending.kind === 'done' && ending.finish === 'stopped'
  const status = ending.kind === 'error' ? 'failed' : stopped ? 'stopped' : 'completed'
  const failure = ending.kind === 'error' ? runFailure(ending.error, redact) : null
  const limit = reachedLimit(performed, ending)
  const last: DoneEvent | ErrorEvent =
    failure !== null
      ? { event: 'error', ...failure }
      : {
          event: 'done',
          message_id: run.messageId,
          token_count: total.completion_tokens,
          suggested_title: title,
          usage: total,
          ...reasoningIn(timeline.entries()),
          finish_reason: ending.kind === 'done' ? ending.finish : 'stop',
          ...(limit === null ? {} : { limit }),
        }
  if (ending.kind === 'error') {
    const { cause } = ending.error
    log.warn(
      {
        err: ending.error,
        ...(cause === undefined ? {} : { cause: errorText(cause) }),
        run_id: run.id,
      },
      'a run failed',
    )
  }
  if (title !== null) state.title = title
  delete state.finish
  const events: RunEvent[] = title === null ? [last] : [{ event: 'title', title }, last]
  const endedAt = now()
  const change: Partial<NewRun> = {
    status,
    finishReason: ending.kind === 'done' ? ending.finish : null,
    reachedLimit: limit,
    error: failure,
    state,
    timeline: timeline.entries(),
    endedAt,
  }
  const announces =
    run.kind === 'background' && !stopped && readRunOptions(run.options).announce !== false
  const batch = await usage.takeBatch({ endsIteration: ending.kind === 'done' })
  const writeRest: Write = async (tx) => {
    await inParallel(
      () =>
        store.messages.update(tx, run.messageId, {
          status,
          // Read here, so that it includes text that the recorder has not emitted yet.
          text: answerText(recorder),
          tokenCount: total.completion_tokens,
          error: failure?.content ?? null,
        }),
      () => store.conversations.endTurn(tx, run.conversationId, { endedAt, title }),
    )
    await notices?.runEnded(tx, run, {
      status,
      finishReason: ending.kind === 'done' ? ending.finish : null,
      error: failure?.reason ?? null,
      usage: total,
      endedAt,
    })
    if (run.attempt > 1 || hasAskedForInput(active.runLog)) await store.runInputs.remove(tx, run.id)
    if (run.attempt > 1 || journal.isUsed) await store.subAgents.removeOf(tx, run.id)
    if (announces) {
      const { conversationId, messageId, parentRunId } = run
      await store.messages.attach(tx, conversationId, messageId, endedAt, parentRunId)
    }
  }
  const stored = recorder.end(
    (tx, lastEvent) => batch.write(tx, { ...change, lastEvent }, writeRest),
    events,
  )
  await batch.settle(stored)
}

/** The limit that ended the run; null if none did. */
function reachedLimit(
  { active, usage, dependencies: { settings, redact } }: PerformedRun,
  ending: StoredEnding,
): ReachedLimit | null {
  if (ending.kind !== 'done' || ending.finish !== 'budget') return null
  const refusal =
    active.stopReason === 'time_limit'
      ? appError('run_minutes_used_up', { limit: settings.runMinutes })
      : usage.reachedLimit()
  if (refusal === null) return null
  const { content, reason, params } = runFailure(refusal, redact)
  return reason === undefined
    ? null
    : { content, reason, ...(params === undefined ? {} : { params }) }
}

const hasAskedForInput = ({ entries }: PerformedRun['active']['runLog']): boolean =>
  entries.some((entry) => entry.kind === 'event' && entry.event.event === 'input_required')
