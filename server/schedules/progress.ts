// One occurrence: starts its run when it may, sees what came of it, and stores its end once, with what follows from it.
import type { Database } from '../db/database.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { OccurrenceRow } from '../db/repositories/schedules/occurrences.ts'
import type { ScheduleRow } from '../db/repositories/schedules/schedules.ts'
import type { Store } from '../db/store.ts'
import { createFairQueue, type FairQueue } from '../lib/fair-queue.ts'
import type { WorkClaims } from '../lib/work-claims.ts'
import type { Webhooks } from '../messaging/webhooks.ts'
import type { Change } from '../protocol/change.ts'
import type { ErrorParams } from '../protocol/error.ts'
import type { UserId } from '../protocol/ids.ts'
import { SUCCESS_BEGINS } from '../protocol/runs/call-outcome.ts'
import type {
  NamedFailure,
  OccurrenceId,
  OccurrenceReason,
  OccurrenceState,
} from '../protocol/schedules/schedule.ts'
import { NOTHING_TO_REPORT } from '../tools/builtin/schedules/nothing-to-report.ts'
import { type CheckDependencies, evaluateChecks } from './checks.ts'
import { announceOccurrence } from './schedules.ts'
import { ScheduleSettings } from './settings.ts'
import { type End, type StartDependencies, startRun } from './start.ts'
import { type TellDependencies, tellEnd, toldOf } from './tell.ts'

/** What following an occurrence needs. */
export interface ProgressDependencies
  extends StartDependencies,
    CheckDependencies,
    TellDependencies {
  database: Database
  store: Store
  now(): Date
  /** Failures in a row after which a schedule is switched off. */
  maxFailures: number
  announce(userId: UserId, change: Change): void
  /** Conversations of a schedule that makes one each time. */
  keepRuns: number
  claims: WorkClaims
  /** Are told of ends in the transaction that stores them, and send them after it. */
  webhooks: Pick<Webhooks, 'events' | 'afterCommit'>
  observe(
    seen: { kind: 'ended'; state: OccurrenceState } | { kind: 'delay'; seconds: number },
  ): void
}

/** How the work on occurrences is bounded. */
export interface WorkBounds {
  /** Of what is short; users take turns. */
  turns: FairQueue
  /** Ends checks that are in progress; somebody evaluates them again. */
  signal: AbortSignal
}

/** Checks that are evaluated at the same time: they may run commands. Of one user, few, so that slow ones do not delay others'. */
const checking = createFairQueue({ size: 4, perOwner: 2 })

/** An occurrence whose run has ended. */
interface Ended {
  occurrence: OccurrenceRow
  schedule: ScheduleRow
  settings: ScheduleSettings
  run: RunRow
}

/** Does what can be done now. Resolves to null when nothing is left to do, otherwise to the run to wait for. */
export async function progress(
  { id, userId }: { id: OccurrenceId; userId: UserId },
  dependencies: ProgressDependencies,
  { turns, signal }: WorkBounds,
): Promise<{ runId: string | null } | null> {
  const found = await turns.run(userId, () => stepOn(id, dependencies))
  if (found === null || !('run' in found)) return found
  const { run, settings } = found
  // Commands are run by one instance, also when another one looks after the occurrence, too.
  const claim = settings.checks.some((check) => 'command' in check) ? `checks of ${id}` : null
  if (claim !== null && !(await dependencies.claims.claim(claim))) return { runId: run.id }
  try {
    const current = await dependencies.store.occurrences.find(id)
    if (current === undefined || current.endedAt !== null) return null
    const end = await checking.run(found.schedule.userId, () => endOf(found, dependencies, signal))
    if (end === null) return { runId: run.id }
    await turns.run(userId, () => storeEnd(found, end, dependencies))
    return null
  } finally {
    if (claim !== null) await dependencies.claims.finish(claim)
  }
}

/** Does what is short; resolves to the occurrence if its run has ended. */
async function stepOn(
  id: OccurrenceId,
  dependencies: ProgressDependencies,
): Promise<Ended | { runId: string | null } | null> {
  const { store } = dependencies
  const occurrence = await store.occurrences.find(id)
  if (occurrence === undefined) return null
  const schedule = await store.schedules.get(occurrence.scheduleId)
  if (schedule === undefined) return null
  if (occurrence.endedAt !== null) {
    if (occurrence.untold !== null) await tellStoredEnd(occurrence, schedule, dependencies)
    return null
  }
  const settings = ScheduleSettings.parse(schedule.settings)
  const withoutRun = { occurrence, schedule, settings, run: null }
  if (occurrence.reason === 'watch_failed') {
    const { detail, failure } = occurrence
    const end = ending('failed', 'watch_failed', detail, failure)
    await storeEnd(withoutRun, end, dependencies)
    return null
  }
  if (occurrence.runId === null) {
    const started = await startRun(occurrence, schedule, settings, dependencies)
    if (started.kind === 'wait') {
      await showState(occurrence, schedule.userId, 'waiting', dependencies)
      return { runId: null }
    }
    if (started.kind === 'ended') {
      await storeEnd(withoutRun, started.end, dependencies, started.disables)
      return null
    }
    announceOccurrence(occurrence, schedule.userId, dependencies.announce, 'updated')
    announceSchedule(schedule, dependencies)
    return { runId: started.runId }
  }
  const run = await store.runs.find(occurrence.runId)
  if (run === undefined) {
    await storeEnd(withoutRun, ending('stopped', 'ended', null), dependencies)
    return null
  }
  if (run.endedAt === null) {
    const waits = run.status === 'awaiting_approval' || run.status === 'awaiting_input'
    await showState(occurrence, schedule.userId, waits ? 'waiting' : 'running', dependencies)
    return { runId: run.id }
  }
  return { occurrence, schedule, settings, run }
}

async function showState(
  occurrence: OccurrenceRow,
  userId: UserId,
  state: 'running' | 'waiting',
  { database, store, announce }: ProgressDependencies,
): Promise<void> {
  if (occurrence.state === state) return
  await database.write(async (tx) => {
    await store.occurrences.change(tx, occurrence.id, { state })
  })
  announceOccurrence(occurrence, userId, announce, 'updated')
}

/** What came of an ended run, on what is stored; null while a delivery is still being waited for. */
async function endOf(
  { run, occurrence, schedule, settings }: Ended,
  dependencies: ProgressDependencies,
  signal: AbortSignal,
): Promise<End | null> {
  const { store } = dependencies
  if (run.status === 'failed')
    return ending('failed', 'run_failed', run.error?.content ?? null, nameOf(run.error))
  if (run.status === 'interrupted') return ending('failed', 'interrupted', null)
  if (run.finishReason === 'budget' || run.finishReason === 'max_iterations') {
    const { reachedLimit: limit } = run
    // The limits of one run, such as those of its schedule, are no quotas.
    const isQuota = limit !== null && /^(?!run_).*_used_up$/.test(limit.reason)
    return { ...ending('stopped', 'budget', limit?.content ?? null, nameOf(limit)), isQuota }
  }
  if (run.status === 'stopped') return ending('stopped', 'stopped', null)
  const steps = await store.ledger.steps(run.messageId)
  const checked = { run, occurrence, schedule, settings, steps }
  const checks = await evaluateChecks(checked, dependencies, signal)
  if (checks === null) return null
  const requests = await store.ledger.requests(run.id)
  if (requests.includes('expired')) return { ...ending('unmet', 'approval_expired', null), checks }
  if (checks.some(({ passed }) => !passed))
    return { ...ending('unmet', 'check_failed', null), checks }
  const isQuiet =
    settings.quiet &&
    steps.some(
      ({ type, name, skipped, content }) =>
        type === 'tool_result' &&
        name === NOTHING_TO_REPORT &&
        !skipped &&
        content.startsWith(SUCCESS_BEGINS),
    )
  return { ...ending(isQuiet ? 'quiet' : 'done', null, null), checks }
}

const ending = (
  state: OccurrenceState,
  reason: OccurrenceReason | null,
  detail: string | null,
  failure: NamedFailure | null = null,
): End => ({ state, reason, detail, failure, checks: [] })

/** Runs that ended before reasons were stored have none. */
const nameOf = (
  failure: { reason?: string | undefined; params?: ErrorParams | undefined } | null,
): NamedFailure | null =>
  failure?.reason === undefined
    ? null
    : {
        reason: failure.reason,
        ...(failure.params === undefined ? {} : { params: failure.params }),
      }

const FAILURES: readonly OccurrenceState[] = ['unmet', 'failed', 'stopped']

/** Stores the end once: whoever changes the row counts the failure, switches off, and tells. */
async function storeEnd(
  { occurrence, schedule, settings, run }: Omit<Ended, 'run'> & { run: RunRow | null },
  { state, reason, detail, failure, checks, isQuota = false }: End,
  dependencies: ProgressDependencies,
  disables: ScheduleRow['disabledReason'] | 'trashed' = null,
): Promise<void> {
  const { database, store, now, maxFailures } = dependencies
  const at = now()
  const isFailure = FAILURES.includes(state)
  const ended = await database.write(async (tx) => {
    const locked = await store.schedules.lock(tx, schedule.id)
    if (locked === undefined) return null
    const failures = isFailure ? locked.failures + 1 : state === 'skipped' ? locked.failures : 0
    const isOff = locked.enabled && (disables !== null || failures >= maxFailures)
    const changed = await store.occurrences.change(tx, occurrence.id, {
      state,
      reason,
      detail: detail === null ? null : detail.slice(0, 1_000),
      failure,
      checks,
      cost: run?.cost ?? null,
      input: null,
      endedAt: at,
      untold: toldOf(state, settings, isOff),
    })
    if (changed === undefined) return null
    await store.schedules.change(tx, schedule.id, {
      failures,
      ...(isOff
        ? {
            enabled: false,
            nextAt: null,
            disabledReason:
              disables === null
                ? isQuota
                  ? 'quota'
                  : 'failures'
                : disables === 'trashed'
                  ? null
                  : disables,
          }
        : {}),
    })
    if (state === 'quiet' && run !== null) await store.conversations.fold(tx, run)
    await dependencies.webhooks.events.scheduleEnded(tx, schedule.userId, {
      scheduleId: schedule.id,
      occurrenceId: occurrence.id,
      state,
      runId: run?.id ?? null,
      at,
    })
    return changed
  })
  if (ended === null) return
  dependencies.webhooks.afterCommit(schedule.userId)
  dependencies.observe({ kind: 'ended', state })
  announceOccurrence(ended, schedule.userId, dependencies.announce, 'updated')
  announceSchedule(schedule, dependencies)
  if (ended.conversationId !== null && state === 'quiet')
    dependencies.announce(schedule.userId, {
      type: 'conversation',
      id: ended.conversationId,
      change: 'updated',
    })
  await tellStoredEnd(ended, schedule, dependencies)
  if (settings.conversation === 'new') await trashOld(schedule, dependencies)
}

const announceSchedule = ({ id, userId }: ScheduleRow, { announce }: ProgressDependencies): void =>
  announce(userId, { type: 'schedule', id, change: 'updated' })

/** Tells the end through what was stored with it, unless another instance does. */
async function tellStoredEnd(
  occurrence: OccurrenceRow,
  schedule: ScheduleRow,
  dependencies: ProgressDependencies,
): Promise<void> {
  const { database, store } = dependencies
  const taken = await database.write((tx) => store.occurrences.takeUntold(tx, occurrence.id))
  if (taken !== undefined) await tellEnd(taken, schedule, dependencies)
}

/** Of a schedule that makes a conversation each time, the oldest go to the trash. */
async function trashOld(
  schedule: ScheduleRow,
  { store, keepRuns, chat }: ProgressDependencies,
): Promise<void> {
  for (const id of await store.occurrences.conversations(schedule.id, keepRuns)) {
    const conversation = await store.conversations.find(schedule.userId, id)
    if (conversation !== undefined) await chat.trashConversation(schedule.userId, id)
  }
}
