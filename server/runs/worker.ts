// Performs one run: consumes the events of its loop, stores and emits them, and ends the run.

import { toStep } from '../db/repositories/conversations/steps.ts'
import { ROW_BYTES } from '../db/repositories/projects/storage.ts'
import { RunOver } from '../db/run-attempt.ts'
import { AppError, appError } from '../errors.ts'
import { createWorkClock, type WorkClock } from '../lib/clocks.ts'
import { roughLength } from '../lib/json-pieces.ts'
import { noticingOutput } from '../llm/prose.ts'
import type { OnDisconnect } from '../protocol/conversations/message.ts'
import type { ActiveRun } from './active-run.ts'
import {
  prepareRunContext,
  type ResumePoint,
  type RunContext,
  recallEarlierResults,
} from './context.ts'
import { endBroken } from './end/end-broken.ts'
import {
  createRunTitle,
  type Ending,
  type RunTitle,
  storeEnd,
  titleWithoutAnswer,
} from './end/finish.ts'
import { failureOfStop, retryNotice } from './end/run-failure.ts'
import { RETRY_DELAYS_MS, retryWhileUnavailable, type WriteGroup } from './group-commit.ts'
import type { RunLog } from './log/log.ts'
import { outcomeOf } from './observation.ts'
import type { PerformedRun, RunDependencies, RunFrame } from './performed-run.ts'
import { createRecorder, type Recorder } from './recorder.ts'
import { createRunState, limitsOf, type RunState, readRunOptions } from './state.ts'
import { createSubAgentJournal } from './sub-agents/journal.ts'
import { createRunTimeline } from './timeline.ts'
import { createRunUsage, createSpending } from './usage/usage.ts'
import { createRunLoop } from './worker/run-loop.ts'

/**
 * Performs the run from its stored state until it ends or the server shuts down. Never throws: an unexpected error ends the
 * run and never causes another model call.
 */
export async function performRun(
  { active, run, known }: Pick<RunFrame, 'active' | 'run' | 'known'>,
  dependencies: RunDependencies,
  writes: WriteGroup,
): Promise<void> {
  const { now, observe } = dependencies
  const startedAt = now()
  const stepsBefore = active.runLog.stepCount
  const usage = createRunUsage(run, { ...dependencies, writes })
  const { budgets, store } = dependencies
  const spending = createSpending(run, usage, budgets, store.attachments)
  const record = dependencies.records?.begin(run)
  if (run.attempt === 1) record?.addStored('accepted')
  const timeline = createRunTimeline({
    model: run.model,
    attempt: run.attempt,
    earlier: run.timeline ?? [],
    now,
    costOf: (model, tokens) => usage.priceOf({ model, usage: tokens }),
    record,
  })
  try {
    const isSuspending = () => active.stopReason === 'shutdown'
    await perform({
      active,
      run,
      options: readRunOptions(run.options),
      known,
      writes,
      dependencies,
      retry: (read) =>
        retryWhileUnavailable(
          read,
          RETRY_DELAYS_MS,
          () => !active.signal.aborted && !dependencies.isDraining(),
        ),
      runState: createRunState(run.state),
      usage,
      timeline,
      record,
      journal: createSubAgentJournal(run.id, store.subAgents, usage, isSuspending),
      spending,
    })
  } catch (error) {
    const event = await endBroken(error, { active, run, usage, dependencies })
    if (event === null) active.runLog.close()
    else active.runLog.appendEvent(event)
  } finally {
    dependencies.storage.noteText(run.userId, storedBytes(active.runLog, stepsBefore))
    usage.release()
    spending.release()
    record?.end()
    const { terminal } = active.runLog
    observe?.({
      kind: 'attempt_ended',
      run,
      startedAt,
      endedAt: now(),
      entries: timeline.entries().slice(run.timeline?.length ?? 0),
      outcome: outcomeOf(terminal),
      reason: terminal?.event === 'error' ? (terminal.reason ?? null) : null,
    })
  }
}

/** Roughly the bytes that the steps of the answer from an index on take in the store. */
function storedBytes(runLog: RunLog, first: number): number {
  let bytes = 0
  for (let index = first; index < runLog.stepCount; index += 1) {
    const step = runLog.step(index)
    if (step === undefined) continue
    bytes += ROW_BYTES + Buffer.byteLength('content' in step ? step.content : step.arguments)
    if (step.type === 'tool_result') bytes += roughLength(step.artifact)
  }
  return bytes
}

/** Works on the run within its limits, then stores its end. */
async function perform(performed: PerformedRun): Promise<void> {
  const { active, run, options, runState, record, writes, dependencies } = performed
  const { store, storeMoments, sharing, log, now } = dependencies
  const { disconnectGrace, titles } = dependencies.settings
  const { minutes } = limitsOf(options, dependencies.settings)
  const endWatch = stopWhenUnattended(active, {
    onDisconnect: options.onDisconnect,
    graceMs: disconnectGrace * 1_000,
  })
  const clock = createWorkClock(minutes * 60_000, () => active.stop('time_limit'))
  try {
    const isResumed = run.attempt > 1
    const rows = isResumed ? await performed.retry(() => store.steps.list(run.messageId)) : []
    const context = await performed
      .retry(() => prepareRunContext(performed, rows))
      .catch((error: unknown) => asAppError(error))
    const isPrepared = !(context instanceof AppError)
    if (isResumed && isPrepared)
      await recallEarlierResults(run.id, rows.map(toStep), store, context.allTools)
    const resume = isPrepared ? context.resume : null
    const recorder = createRecorder({
      runLog: active.runLog,
      run,
      nextIndex: resume?.nextIndex ?? rows.length,
      openCalls: resume?.places ?? new Map(),
      continued: resume === null ? null : continuedBy(resume, runState.current),
      stepRepository: store.steps,
      writes,
      storeMoments,
      storesIdsAtOnce: sharing !== undefined,
      onLateStore(error) {
        // Another attempt has begun elsewhere. This one ends as it would at a shutdown, and writes nothing more.
        if (error instanceof RunOver) active.stop('shutdown')
        else log.warn({ err: error, run_id: run.id }, 'text not stored in time')
      },
      onStored: (what, idRef) => record?.addStored(what, idRef),
      now,
    })
    const title = isPrepared ? createRunTitle(performed, context) : null
    const { finish } = runState.current
    const ending: Ending = !isPrepared
      ? { kind: 'error', error: context }
      : finish === undefined
        ? await runLoop(performed, context, recorder, { clock, title })
        : { kind: 'done', finish }
    if (ending.kind === 'suspended') {
      await recorder.suspend((tx) => store.runs.write(tx, run, { failedAttempts: 0, owner: null }))
      active.runLog.close()
      return
    }
    if (ending.kind === 'error') title?.abandon()
    const given =
      ending.kind === 'done' && title !== null
        ? await title.finish(ending.finish, recorder)
        : await titleWithoutAnswer(run, store, titles)
    await storeEnd(performed, ending, given, recorder)
  } finally {
    endWatch()
    clock.end()
  }
}

/** Stores and emits what the loop yields, until it ends. The loop continues only after each event is stored and emitted. */
async function runLoop(
  performed: PerformedRun,
  context: RunContext,
  recorder: Recorder,
  { clock, title }: { clock: WorkClock; title: RunTitle | null },
): Promise<Ending> {
  const { active, run, runState, usage, timeline, dependencies } = performed
  const { log, now, observe, redact } = dependencies
  // Later attempts are left out: they began long after the person asked.
  let isAwaited = run.attempt === 1
  const prose = noticingOutput(recorder, () => {
    title?.begin()
    if (!isAwaited) return
    isAwaited = false
    const seconds = (now().getTime() - run.createdAt.getTime()) / 1_000
    observe?.({ kind: 'first_token', model: run.model, seconds })
  })
  for await (const event of await createRunLoop(performed, context, { recorder, prose, clock })) {
    switch (event.type) {
      case 'iteration': {
        title?.begin()
        usage.add(event)
        // The last iteration is stored together with the end of the run, unless a title has to be generated first.
        if (event.finish !== null) {
          const isOver = event.finish === 'stop' && (await usage.hasExceededLimits())
          return { kind: 'done', finish: isOver ? 'budget' : event.finish }
        }
        const batch = await usage.nextBatch({ endsIteration: true })
        const change = { timeline: timeline.entries(), ...runState.nextChange() }
        await batch.settle(
          recorder.endIteration(event.calls, (tx) => batch.write(tx, change), event.carry),
        )
        break
      }
      case 'result':
        // A result cut off by a shutdown is not stored, so it must not be emitted either.
        if (active.stopReason !== 'shutdown') recorder.emitResult(event.result)
        break
      case 'retrying':
        log.warn(
          { run_id: run.id, attempt: event.attempt, reason: event.error.message },
          'model retry',
        )
        active.runLog.reportRetry(retryNotice(event, redact))
        break
      case 'failed':
        if (event.usage !== undefined) usage.add({ usage: event.usage, model: '' })
        return { kind: 'error', error: event.error }
      case 'stopped': {
        if (event.usage !== undefined) usage.add({ usage: event.usage, model: '' })
        if (active.stopReason === 'shutdown') return { kind: 'suspended' }
        const error = failureOfStop(active.stopReason)
        return error === null
          ? { kind: 'done', finish: active.stopReason === 'time_limit' ? 'budget' : 'stopped' }
          : { kind: 'error', error }
      }
    }
  }
  return { kind: 'error', error: appError('run_without_answer') }
}

/** An answer that the iteration limit ended is complete in itself; any other end may be in the middle of a word. */
const continuedBy = ({ continued }: ResumePoint, { resumedAfter }: RunState) =>
  continued === null
    ? null
    : { index: continued, separator: resumedAfter === 'max_iterations' ? '\n\n' : '' }

const asAppError = (error: unknown): AppError =>
  error instanceof AppError ? error : appError('run_not_prepared', {}, { cause: error })

/** Milliseconds for the first listener to connect after a start or restart, even if `on_disconnect` is `stop`. */
const CONNECT_MS = 30_000

/**
 * Stops the run when it has had no listener for the grace period. A run that waits for a person is not stopped: the
 * decision may come later, from another device.
 * @returns a function that ends the watch.
 */
export function stopWhenUnattended(
  active: ActiveRun,
  options: { onDisconnect: OnDisconnect; graceMs: number },
): () => void {
  if (options.onDisconnect === 'continue') return () => {}
  const delay = options.onDisconnect === 'stop' ? 0 : options.graceMs
  let timer: NodeJS.Timeout | undefined
  const arm = (ms: number): void => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (active.runLog.isWaiting) arm(Math.max(ms, 1_000))
      else active.stop('stopped')
    }, ms)
    timer.unref()
  }
  const endWatch = active.runLog.onListenersChange((count) => {
    if (count === 0) arm(delay)
    else clearTimeout(timer)
  })
  // The client of a new run may disconnect before it subscribes.
  if (active.runLog.listenerCount === 0) arm(Math.max(delay, CONNECT_MS))
  return () => {
    clearTimeout(timer)
    // The log stays in memory for a while after the end, and must not keep the rest of the run there.
    endWatch()
  }
}
