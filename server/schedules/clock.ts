// The clock of schedules: notices what is due, stores each due time exactly once, and looks after what has not ended.

import type { Announcer } from '../changes/change-log.ts'
import { createConversationStart } from '../chat/new-conversation.ts'
import type { Database, Writer } from '../db/database.ts'
import type { NewOccurrence, OccurrenceRow } from '../db/repositories/schedules/occurrences.ts'
import type { ScheduleRow } from '../db/repositories/schedules/schedules.ts'
import type { Store } from '../db/store.ts'
import { appError, errorText, namedFailure } from '../errors.ts'
import type { ProcessClock } from '../lib/clocks.ts'
import { createFairQueue } from '../lib/fair-queue.ts'
import type { UserId } from '../protocol/ids.ts'
import type { NamedFailure, OccurrenceId, ScheduleId } from '../protocol/schedules/schedule.ts'
import type { ToolRegistry } from '../tools/registry.ts'
import { assertRight } from '../workspace/open-project.ts'
import type { WorkspaceServices } from '../workspace/workspace-services.ts'
import { commandRunner } from './check-command.ts'
import { patternMatcher } from './check-settings.ts'
import { duesUntil, missedRows, type SortedTimes, sortDues } from './due-times.ts'
import { type ProgressDependencies, progress } from './progress.ts'
import { projectFiles } from './project-files.ts'
import {
  addOccurrence,
  announceOccurrence,
  endedAsStored,
  newOccurrence,
  nextStart,
  type Schedules,
} from './schedules.ts'
import { ScheduleSettings } from './settings.ts'
import { toldOf } from './tell.ts'
import { spreadOf } from './times.ts'
import { lookAtWatch, type WatchDependencies } from './watch.ts'

/** How often the process's clock is compared with the next due time, without a statement. */
const BEAT_MS = 1_000
/** How often the store is asked what is due, at rest. */
const LOOK_MS = 60_000
/** The same when instances share the store: a change at another one is noticed in this way. */
const SHARED_LOOK_MS = 4_000
/** How soon it is asked again after it could not answer, or after something could not be worked on. */
const RETRY_MS = 2_000
/** How often it is asked while an occurrence has not ended. */
const OPEN_LOOK_MS = 2_000
/** A longer silence means that the machine slept or the clock was set forward. */
const ASLEEP_MS = 10_000
/** How long another instance may take to notice that the one which led is gone: this is no downtime. */
const TAKE_OVER_MS = 30_000
/**
 * Schedules and occurrences that are worked on at the same time: when hundreds are due, people's requests come in between. Users
 * take turns, so that nobody waits behind everything of another.
 */
const turns = createFairQueue({ size: 8 })

/** How it reads projects, runs commands and begins conversations. */
const clockParts = ({ workspace, registry, ...given }: ClockDependencies) => ({
  ...given,
  conversationStart: createConversationStart(given),
  ...projectFiles(workspace),
  matchesPattern: patternMatcher(workspace),
  runCommand: commandRunner(registry),
})

type ClockParts = ReturnType<typeof clockParts>

/** What the clock needs. */
export interface ClockDependencies
  extends Omit<
      ProgressDependencies,
      'conversationStart' | 'findFiles' | 'readFile' | 'matchesPattern' | 'runCommand'
    >,
    Omit<WatchDependencies, 'readFiles'>,
    Pick<Parameters<typeof createConversationStart>[0], 'access' | 'offeredModels'> {
  database: Database
  store: Store
  workspace: Pick<WorkspaceServices, 'workspaces' | 'records' | 'projects' | 'pool'>
  registry: Pick<ToolRegistry, 'snapshot'>
  schedules: Schedules
  followRuns: Announcer['followRuns']
  now(): Date
  every: ProcessClock['every']
  /** Hours after which a missed time is not caught up. */
  catchUpHours: number
  /** Whether other instances look at the clock when this one does not. */
  isShared: boolean
  isEnabled: boolean
  log: { warn(details: object, message: string): void }
}

/** The clock of one instance. */
export interface ScheduleClock {
  /** Ends looking. Resolves when nothing is in progress. */
  stop(): Promise<void>
  /** Begins to look for everything that is due, as the one instance that does. Returns a function that ends it. */
  lead(): () => Promise<void>
}

interface State {
  isLeading: boolean
  /** Since when the clock has been looked at without interruption; due times before it were missed. */
  upSince: Date
  lastBeat: Date
  nextLook: Date
  /** Occurrences that have not ended, with the id of their run where there is one. */
  open: Map<OccurrenceId, { userId: UserId; runId: string | null }>
  /** The occurrences with a run, by its id. */
  runs: Map<string, OccurrenceId>
  /** How often in a row work about a thing has failed; it is tried again sooner than the store is asked at rest. */
  failures: Map<string, number>
  /** What is being worked on. */
  busy: Map<string, { again: boolean; done: Promise<void> }>
  /** Ends looks and checks that are in progress. Somebody does them again. */
  ending: AbortController
}

/** Create one per process. */
export function createScheduleClock(given: ClockDependencies): ScheduleClock {
  const dependencies = clockParts(given)
  const { store, now, log, schedules } = dependencies
  const begun = now()
  const state: State = {
    isLeading: false,
    upSince: begun,
    lastBeat: begun,
    nextLook: begun,
    open: new Map(),
    runs: new Map(),
    failures: new Map(),
    busy: new Map(),
    ending: new AbortController(),
  }

  /** Does work about one thing; what asks for it meanwhile has it done once more. */
  function once(key: string, work: () => Promise<void>): Promise<void> {
    const running = state.busy.get(key)
    if (running !== undefined) {
      running.again = true
      return running.done
    }
    const entry = { again: false, done: Promise.resolve() }
    const perform = async (): Promise<void> => {
      try {
        do {
          entry.again = false
          await work()
        } while (entry.again)
        state.failures.delete(key)
      } catch (error) {
        if (state.ending.signal.aborted) return
        log.warn({ err: error, key }, 'a schedule could not be looked at')
        lookAgainAbout(key)
      } finally {
        // In the turn in which it was last seen that nothing asks for more: what asks later begins anew.
        state.busy.delete(key)
      }
    }
    state.busy.set(key, entry)
    entry.done = perform()
    return entry.done
  }

  /** Soon at first, and less and less often while it keeps failing. */
  function lookAgainAbout(key: string): void {
    const before = state.failures.get(key) ?? 0
    state.failures.set(key, before + 1)
    const at = now().getTime() + Math.min(RETRY_MS * 2 ** before, LOOK_MS)
    if (at < state.nextLook.getTime()) state.nextLook = new Date(at)
  }

  function keepOpen(id: OccurrenceId, one: { userId: UserId; runId: string | null }): void {
    forget(id)
    state.open.set(id, one)
    if (one.runId !== null) state.runs.set(one.runId, id)
  }

  function forget(id: OccurrenceId): void {
    const runId = state.open.get(id)?.runId ?? null
    if (runId !== null) state.runs.delete(runId)
    state.open.delete(id)
  }

  const follow = (id: OccurrenceId, userId: UserId): Promise<void> =>
    once(id, async () => {
      const { signal } = state.ending
      let next = await progress({ id, userId }, dependencies, { turns, signal })
      if (next !== null && next.runId !== null && state.open.get(id)?.runId !== next.runId) {
        // A short run may have ended before anybody knew that it belongs to this occurrence.
        keepOpen(id, { userId, runId: next.runId })
        next = await progress({ id, userId }, dependencies, { turns, signal })
      }
      if (next === null) {
        const behind = signal.aborted ? undefined : await store.occurrences.behind(id)
        forget(id)
        if (behind !== undefined) void follow(behind, userId)
        return
      }
      keepOpen(id, { userId, runId: next.runId })
      const at = now().getTime() + OPEN_LOOK_MS
      if (at < state.nextLook.getTime()) state.nextLook = new Date(at)
    })

  const fire = (id: ScheduleId, userId: UserId): Promise<void> =>
    once(id, async () => {
      const { begin, next } = await advance(
        { id, userId },
        { upSince: state.upSince, signal: state.ending.signal },
        dependencies,
      )
      if (next !== null && next < state.nextLook) state.nextLook = next
      for (const occurrence of begin) void follow(occurrence, userId)
    })

  async function look(): Promise<void> {
    const moment = now()
    const pause = dependencies.isShared ? SHARED_LOOK_MS : LOOK_MS
    state.nextLook = new Date(moment.getTime() + pause)
    if (!state.isLeading) {
      // Only what this instance has begun.
      for (const [id, { userId }] of state.open) void follow(id, userId)
      return
    }
    const items = await store.schedules.ofClock(state.nextLook).catch((error: unknown) => {
      state.nextLook = new Date(moment.getTime() + RETRY_MS)
      throw error
    })
    let next = state.nextLook.getTime()
    for (const item of items) {
      if (item.kind === 'occurrence') {
        next = Math.min(next, moment.getTime() + OPEN_LOOK_MS)
        if (item.hasMoved) void follow(item.id, item.userId)
      } else if (item.dueAt <= moment) void fire(item.id, item.userId)
      else next = Math.min(next, item.dueAt.getTime())
    }
    state.nextLook = new Date(Math.min(next, state.nextLook.getTime()))
  }

  async function beat(): Promise<void> {
    const moment = now()
    const passed = moment.getTime() - state.lastBeat.getTime()
    state.lastBeat = moment
    const isSetBack = passed < 0
    // What was due meanwhile was missed.
    if (passed > ASLEEP_MS || isSetBack) state.upSince = moment
    if (isSetBack || moment >= state.nextLook) await once('look', look)
  }

  schedules.onDue((item) => {
    if ('dueAt' in item) {
      if (item.dueAt < state.nextLook) state.nextLook = item.dueAt
    } else {
      const { occurrence, userId } = item
      keepOpen(occurrence, { userId, runId: null })
      void follow(occurrence, userId)
    }
  })

  dependencies.followRuns({
    runs: state.runs,
    // The occurrence that started the run may have ended.
    changed(userId, runId) {
      const id = state.runs.get(runId)
      if (id !== undefined) void follow(id, userId)
    },
  })

  const endBeats = dependencies.every(BEAT_MS, async () => {
    if (state.isLeading || state.open.size > 0) await beat()
    else state.lastBeat = now()
  })

  /** Ends what takes long, and waits for the rest. */
  async function settled(): Promise<void> {
    state.ending.abort()
    while (state.busy.size > 0) await Promise.all([...state.busy.values()].map(({ done }) => done))
    state.ending = new AbortController()
  }

  return {
    async stop() {
      endBeats()
      await settled()
    },
    lead() {
      if (!dependencies.isEnabled) return async () => {}
      const moment = now()
      state.isLeading = true
      state.upSince = dependencies.isShared ? new Date(moment.getTime() - TAKE_OVER_MS) : moment
      state.lastBeat = moment
      state.nextLook = moment
      void beat()
      return async () => {
        state.isLeading = false
        await settled()
      }
    },
  }
}

interface Advanced {
  begin: OccurrenceId[]
  next: Date | null
}
const NOTHING: Advanced = { begin: [], next: null }

/** Those that have not ended, or whose end is still to be told. */
const beginning = (rows: readonly OccurrenceRow[]): OccurrenceId[] =>
  rows.flatMap((row) => (row.endedAt === null || row.untold !== null ? [row.id] : []))

/** A schedule that is due, and how it moves on. */
interface Due {
  schedule: ScheduleRow
  settings: ScheduleSettings
  move: { id: ScheduleId; from: Date; next: Date | null }
  times: SortedTimes
  at: Date
}

/**
 * Stores what became due of a schedule and moves it on, in one transaction that only one instance can make. Returns the
 * occurrences to begin, and when the schedule is due next.
 */
async function advance(
  { id, userId }: { id: ScheduleId; userId: UserId },
  { upSince, signal }: { upSince: Date; signal: AbortSignal },
  dependencies: ClockParts,
): Promise<Advanced> {
  const due = await turns.run(userId, () => findDue(id, upSince, dependencies))
  if (!('move' in due)) return due
  const { settings } = due
  if (settings.watch === null) return await turns.run(userId, () => storeDue(due, dependencies))
  // Before the schedule moves on: a process that dies meanwhile leaves the look to the next one.
  const seen = await lookAtWatch(due.schedule, settings, dependencies, signal)
  return await turns.run(userId, () => storeLook(due, seen, dependencies))
}

/** What is due of a schedule; nothing if it is not due, or switched off because it may no longer run. */
async function findDue(
  id: ScheduleId,
  upSince: Date,
  dependencies: ClockParts,
): Promise<Due | Advanced> {
  const { store, now, catchUpHours } = dependencies
  const schedule = await store.schedules.get(id)
  if (schedule === undefined || schedule.nextAt === null || !schedule.enabled) return NOTHING
  const at = now()
  const { nextAt: from } = schedule
  if (from > at) return { begin: [], next: from }
  const settings = ScheduleSettings.parse(schedule.settings)
  const { when, zone } = settings
  const spread = spreadOf(id, when)
  const passed = await duesUntil(
    { when, zone, since: schedule.since },
    new Date(from.getTime() - spread),
    new Date(at.getTime() - spread),
  )
  const next = 'at' in when ? null : nextStart(id, settings, schedule.since, at)
  const due: Due = {
    schedule,
    settings,
    move: { id, from, next },
    times: sortDues(passed, { upSince, spread, at, settings, catchUpHours }),
    at,
  }
  const refusal = await refusalOf(schedule, dependencies)
  if (refusal === null) return due
  return { begin: beginning(await switchOff(due, refusal, dependencies)), next: null }
}

/** Why a schedule may not run. */
interface Refusal {
  reason: 'owner' | 'quota'
  detail: string
  failure: NamedFailure | null
  /** Whether the person is told. */
  isTold: boolean
}

async function refusalOf(
  schedule: ScheduleRow & { isActive: boolean },
  { store, schedules }: ClockParts,
): Promise<Refusal | null> {
  const { userId, projectId } = schedule
  const project = projectId === null ? null : await store.projects.find(userId, projectId)
  try {
    if (!schedule.isActive) throw appError('account_disabled')
    schedules.assertAllowed(userId)
    // Before what is watched there is looked at.
    if (project !== null) assertRight(project, 'change')
  } catch (error) {
    return {
      reason: 'owner',
      detail: errorText(error),
      failure: namedFailure(error),
      isTold: schedule.isActive,
    }
  }
  const limit = schedules.maxPerUser(schedule.userId)
  if ((await store.schedules.countBefore(schedule)) < limit) return null
  const exhausted = appError('schedules_exhausted', { limit })
  return {
    reason: 'quota',
    detail: exhausted.message,
    failure: namedFailure(exhausted),
    isTold: true,
  }
}

const newestOf = ({ run, missed }: SortedTimes): Date | undefined =>
  run.at(-1) ?? missed.at(-1)?.dueAt

const isAt = ({ dueAt }: NewOccurrence, time: Date): boolean => dueAt.getTime() === time.getTime()

/** Switches a schedule off. Its due time is listed as one that did not begin, and the person is told. */
async function switchOff(
  { schedule, settings, move, times, at }: Due,
  { reason, detail, failure, isTold }: Refusal,
  dependencies: ClockParts,
): Promise<OccurrenceRow[]> {
  const { store } = dependencies
  const dueAt = newestOf(times) ?? move.from
  const added = await storeMove({ schedule, settings, move }, dependencies, async (tx) => {
    const change = { enabled: false, nextAt: null, disabledReason: reason }
    await store.schedules.change(tx, schedule.id, change)
    const stored: NewOccurrence = {
      ...newOccurrence(schedule.id, { dueAt, trigger: 'clock', at }),
      state: 'skipped',
      reason: 'not_started',
      detail,
      failure,
      endedAt: at,
      untold: isTold ? toldOf('skipped', settings, true) : null,
    }
    const missed = missedRows(schedule.id, times, at).filter((row) => !isAt(row, dueAt))
    return await store.occurrences.insertAll(tx, [...missed, stored])
  })
  return added ?? []
}

/** Stores due times: missed ones, and those that run. */
async function storeDue(due: Due, dependencies: ClockParts): Promise<Advanced> {
  const { schedule, settings, move, times, at } = due
  const { store, observe } = dependencies
  const added = await storeMove(due, dependencies, async (tx) => {
    const missed = missedRows(schedule.id, times, at)
    const newest = missed.at(-1)
    // A run tells what came of it; without one, the person learns of the newest time that was missed.
    if (newest !== undefined && times.run.length === 0)
      newest.untold = toldOf('missed', settings, false)
    const rows: OccurrenceRow[] = await store.occurrences.insertAll(tx, missed)
    for (const dueAt of times.run) {
      const occurrence = newOccurrence(schedule.id, { dueAt, trigger: 'clock', at })
      const stored = await addOccurrence(tx, occurrence, dependencies)
      if (stored !== null) rows.push(stored)
    }
    return rows
  })
  // Another process has moved it on, such as one that has died since: what that stored is looked at now.
  if (added === null) return { begin: [], next: at }
  const newest = times.run.at(-1)
  if (newest !== undefined)
    observe({ kind: 'delay', seconds: (at.getTime() - newest.getTime()) / 1_000 })
  return { begin: beginning(added), next: move.next }
}

/** Stores what a look at what is watched saw; only a change, or looks that keep failing, make an occurrence. */
async function storeLook(
  due: Due,
  seen: Awaited<ReturnType<typeof lookAtWatch>>,
  dependencies: ClockParts,
): Promise<Advanced> {
  const { schedule, move, times } = due
  const { store, now } = dependencies
  const dueAt = newestOf(times) ?? move.from
  const at = now()
  const added = await storeMove(due, dependencies, async (tx) => {
    const occurrence = newOccurrence(schedule.id, { dueAt, trigger: 'clock', at })
    if (seen.kind === 'failed') {
      const watchFailures = schedule.watchFailures + 1
      await store.schedules.change(tx, schedule.id, { watchFailures })
      if (watchFailures % 3 !== 0) return []
      // Its end counts, and is told, as that of a run that failed.
      const failed: NewOccurrence = {
        ...occurrence,
        reason: 'watch_failed',
        detail: seen.detail,
        failure: seen.failure,
      }
      return await store.occurrences.insertAll(tx, [failed])
    }
    await store.schedules.change(tx, schedule.id, { watchedAt: at, watchFailures: 0 })
    if (seen.content !== null) await store.schedules.setWatched(tx, schedule.id, seen.content)
    if (seen.input === null) return []
    const stored = await addOccurrence(tx, { ...occurrence, input: seen.input }, dependencies)
    return stored === null ? [] : [stored]
  })
  // What is watched has changed meanwhile: it is looked at again.
  if (added === null) return { begin: [], next: at }
  return { begin: beginning(added), next: move.next }
}

/**
 * Moves a schedule on with what `store` adds, and tells of it. Null if another instance has done it, or if the schedule no
 * longer says what was looked at.
 */
async function storeMove(
  { schedule, settings, move }: Pick<Due, 'schedule' | 'settings' | 'move'>,
  dependencies: ClockParts,
  add: (tx: Writer) => Promise<OccurrenceRow[]>,
): Promise<OccurrenceRow[] | null> {
  const { store, database, announce, observe } = dependencies
  const { id, userId } = schedule
  const added = await database.write(async (tx) => {
    const locked = await store.schedules.lock(tx, id)
    if (locked === undefined || watchedBy(locked) !== watchedBy({ ...schedule, settings }))
      return null
    if ((await store.schedules.advance(tx, move)) === undefined) return null
    const rows = await add(tx)
    await endedAsStored(tx, userId, rows, dependencies)
    return rows
  })
  if (added === null) return null
  dependencies.webhooks.afterCommit(userId)
  announce(userId, { type: 'schedule', id, change: 'updated' })
  for (const row of added) {
    announceOccurrence(row, userId, announce)
    if (row.endedAt !== null) observe({ kind: 'ended', state: row.state })
  }
  return added
}

/** What a look depends on. */
const watchedBy = ({ settings, projectId }: Pick<ScheduleRow, 'settings' | 'projectId'>): string =>
  JSON.stringify([ScheduleSettings.parse(settings).watch, projectId])
