// Performs one run: consumes the events of its loop, stores and emits them, and ends the run.

import pLimit from 'p-limit'
import type { LoopEvent } from '../agent/loop.ts'
import { toStep } from '../db/repositories/conversations/steps.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import { RunOver } from '../db/run-attempt.ts'
import { AppError, appError } from '../errors.ts'
import { createWorkClock, type WorkClock } from '../lib/work-clock.ts'
import { createRunContext, type ResumePoint, type RunContext } from './context/context.ts'
import { recallEarlierResults } from './context/tool-recall.ts'
import { endBroken } from './end/end-broken.ts'
import { type Ending, storeEnd } from './end/finish.ts'
import { retryNotice } from './end/run-failure.ts'
import { createRunTitle, type RunTitle, titleWithoutAnswer } from './end/title.ts'
import { stopWhenUnattended } from './end/unattended.ts'
import type { WriteGroup } from './group-commit.ts'
import { outcomeOf } from './observation.ts'
import { type PerformedRun, type RunDependencies, retryRead } from './performed-run.ts'
import { createRecorder, type Recorder } from './recorder.ts'
import { createRunLoop } from './run-loop.ts'
import { type RunState, readRunState } from './state.ts'
import { createSubAgentJournal } from './sub-agents/journal.ts'
import { createRunTimeline, type RunTimeline } from './timeline.ts'
import { createSpending } from './usage/spending.ts'
import { createRunUsage } from './usage/usage.ts'

/**
 * Performs the run from its stored state until it ends or the server shuts down. Never throws: an unexpected error ends the
 * run and never causes another model call.
 */
export async function performRun(
  { active, run, known }: Pick<PerformedRun, 'active' | 'run' | 'known'>,
  dependencies: RunDependencies,
  writes: WriteGroup,
): Promise<void> {
  const usage = createRunUsage(run, dependencies)
  const queue = pLimit(1)
  const spending = createSpending(run, { ...dependencies, usage, writes, queue })
  const startedAt = dependencies.now()
  let timeline: RunTimeline | undefined
  const record = dependencies.records?.begin(run)
  if (run.attempt === 1) record?.addStored('accepted')
  try {
    const journal = createSubAgentJournal({
      runId: run.id,
      repository: dependencies.store.subAgents,
      usage,
      writes,
      queue,
      isSuspending: () => active.stopReason === 'shutdown',
    })
    const state = readRunState(run.state)
    const isPromptStored = state.prompt !== undefined
    timeline = createRunTimeline({
      model: run.model,
      attempt: run.attempt,
      earlier: run.timeline ?? [],
      now: dependencies.now,
      costOf: (model, tokens) => usage.priceOf({ model, usage: tokens }),
      record,
    })
    await perform({
      active,
      run,
      known,
      state,
      isPromptStored,
      usage,
      timeline,
      record,
      journal,
      spending,
      writes,
      dependencies,
    })
  } catch (error) {
    const event = await endBroken(error, { active, run, usage, dependencies })
    if (event === null) active.runLog.close()
    else active.runLog.appendEvent(event)
  } finally {
    usage.release()
    spending.release()
    record?.end()
    reportAttempt({ active, run, timeline, startedAt }, dependencies)
  }
}

function reportAttempt(
  {
    active,
    run,
    timeline,
    startedAt,
  }: Pick<PerformedRun, 'active' | 'run'> & {
    timeline: RunTimeline | undefined
    startedAt: Date
  },
  { observe, now }: RunDependencies,
): void {
  const { terminal } = active.runLog
  observe?.({
    kind: 'attempt_ended',
    run,
    startedAt,
    endedAt: now(),
    entries: timeline?.entries().slice(run.timeline?.length ?? 0) ?? [],
    outcome: outcomeOf(terminal),
    reason: terminal?.event === 'error' ? (terminal.reason ?? null) : null,
  })
}

/** Starts the limits of the run and ends them with it. */
async function perform(performed: PerformedRun): Promise<void> {
  const { active, run, dependencies } = performed
  const { disconnectGrace, runMinutes } = dependencies.settings
  const endWatch = stopWhenUnattended(active, {
    onDisconnect: onDisconnectOf(run),
    graceMs: disconnectGrace * 1_000,
  })
  const clock = createWorkClock(runMinutes * 60_000, () => active.stop('time_limit'))
  try {
    await workAndEnd(performed, clock)
  } finally {
    endWatch()
    clock.end()
  }
}

async function workAndEnd(performed: PerformedRun, clock: WorkClock): Promise<void> {
  const { active, run, state, writes, dependencies } = performed
  const { store, log, now } = dependencies
  const isResumed = run.attempt > 1
  const rows = isResumed ? await retryRead(performed, () => store.steps.list(run.messageId)) : []
  const context = await retryRead(performed, () =>
    createRunContext({ run, state, known: performed.known }, rows, dependencies),
  ).catch((error: unknown) => asAppError(error))
  if (isResumed && !(context instanceof AppError))
    await recallEarlierResults(run.id, rows.map(toStep), store, context.allTools)
  const resume = context instanceof AppError ? null : context.resume
  const recorder = createRecorder({
    runLog: active.runLog,
    run,
    nextIndex: resume?.nextIndex ?? rows.length,
    openCalls: resume?.places ?? new Map(),
    continued: resume === null ? null : continuedBy(resume, state),
    stepRepository: store.steps,
    writes,
    storeMoments: dependencies.storeMoments,
    storesIdsAtOnce: dependencies.sharing !== undefined,
    onLateStore(error) {
      // Another attempt has begun elsewhere. This one ends as it would at a shutdown, and writes nothing more.
      if (error instanceof RunOver) active.stop('shutdown')
      else log.warn({ err: error, run_id: run.id }, 'text not stored in time')
    },
    onStored: (what, idRef) => performed.record?.addStored(what, idRef),
    now,
  })
  const title = context instanceof AppError ? null : createRunTitle(performed, context)
  const ending: Ending =
    context instanceof AppError
      ? { kind: 'error', error: context }
      : state.finish === undefined
        ? await runLoop(performed, context, recorder, { clock, title })
        : { kind: 'done', finish: state.finish }
  if (ending.kind === 'suspended') {
    await recorder.suspend((tx) => store.runs.write(tx, run, { failedAttempts: 0, owner: null }))
    active.runLog.close()
    return
  }
  if (ending.kind === 'error') title?.abandon()
  const given =
    ending.kind === 'done' && title !== null
      ? await title.finish(ending.finish, recorder)
      : await titleWithoutAnswer(run, dependencies)
  await storeEnd(performed, ending, given, recorder)
}

/** Consumes the loop until it ends. The loop continues only after each event is stored and emitted. */
async function runLoop(
  performed: PerformedRun,
  context: RunContext,
  recorder: Recorder,
  { clock, title }: { clock: WorkClock; title: RunTitle | null },
): Promise<Ending> {
  let hasBegun = false
  for await (const event of await createRunLoop(performed, context, recorder, clock)) {
    if (event.type === 'prose' || event.type === 'iteration') title?.begin()
    if (event.type === 'prose' && !hasBegun) {
      hasBegun = true
      reportFirstToken(performed)
    }
    const ending = await handle(event, performed, recorder)
    if (ending !== null) return ending
  }
  return { kind: 'error', error: appError('run_without_answer') }
}

/** Reports how long the first text took. Later attempts are left out: they began long after the person asked. */
function reportFirstToken({ run, dependencies }: PerformedRun): void {
  if (run.attempt > 1) return
  const seconds = (dependencies.now().getTime() - run.createdAt.getTime()) / 1_000
  dependencies.observe?.({ kind: 'first_token', model: run.model, seconds })
}

/** Stores and emits one event. Returns how the run ended, or null while it continues. */
async function handle(
  event: LoopEvent,
  performed: PerformedRun,
  recorder: Recorder,
): Promise<Ending | null> {
  const { active, run, usage, dependencies } = performed
  switch (event.type) {
    case 'prose': {
      const stored = recorder.append(event.kind, event.text)
      if (stored !== undefined) await stored
      return null
    }
    case 'text_was_thinking':
      recorder.textWasThinking()
      return null
    case 'iteration': {
      usage.add(event)
      // The last iteration is stored together with the end of the run, unless a title has to be generated first.
      if (event.finish !== null) return { kind: 'done', finish: event.finish }
      const batch = await usage.takeBatch({ endsIteration: true })
      const timeline = performed.timeline.entries()
      const patch = performed.isPromptStored ? { timeline } : { timeline, state: performed.state }
      performed.isPromptStored = true
      await batch.settle(
        recorder.endIteration(event.calls, (tx) => batch.write(tx, patch), event.carry),
      )
      return null
    }
    case 'result':
      // A result cut off by a shutdown is not stored, so it must not be emitted either.
      if (active.stopReason !== 'shutdown') recorder.emitResult(event.result)
      return null
    case 'retrying':
      dependencies.log.warn(
        { run_id: run.id, attempt: event.attempt, reason: event.error.message },
        'model retry',
      )
      active.runLog.reportRetry(retryNotice(event, dependencies.redact))
      return null
    case 'failed':
      if (event.usage !== undefined) usage.add({ usage: event.usage, model: '' })
      return { kind: 'error', error: event.error }
    case 'stopped':
      if (event.usage !== undefined) usage.add({ usage: event.usage, model: '' })
      if (active.stopReason === 'shutdown') return { kind: 'suspended' }
      if (active.stopReason === 'project_deleted')
        return { kind: 'error', error: appError('project_deleted_during_run') }
      return { kind: 'done', finish: active.stopReason === 'time_limit' ? 'budget' : 'stopped' }
  }
}

/** An answer that the iteration limit ended is complete in itself; any other end may be in the middle of a word. */
const continuedBy = ({ continued }: ResumePoint, { resumedAfter }: RunState) =>
  continued === null
    ? null
    : { index: continued, separator: resumedAfter === 'max_iterations' ? '\n\n' : '' }

const onDisconnectOf = (run: RunRow) =>
  // The options are validated when the context is built; the watch needs only this one, and needs it earlier.
  (run.options as { onDisconnect?: 'grace' | 'stop' | 'continue' }).onDisconnect ?? 'grace'

const asAppError = (error: unknown): AppError =>
  error instanceof AppError ? error : appError('run_not_prepared', {}, { cause: error })
