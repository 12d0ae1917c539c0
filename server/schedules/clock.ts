// The clock of schedules: notices what is due, stores each due time exactly once, and looks after what has not ended.
import type { Database } from '../db/database.ts'
import type { NewOccurrence, OccurrenceRow } from '../db/repositories/schedules/occurrences.ts'
import type { ScheduleRow } from '../db/repositories/schedules/schedules.ts'
import type { Store } from '../db/store.ts'
import type { ProcessClock } from '../lib/process-clock.ts'
import type { OccurrenceId, ScheduleId } from '../protocol/schedules/schedule.ts'
import { type ProgressDependencies, progress } from './progress.ts'
import {
  addOccurrence,
  announceOccurrence,
  newOccurrence,
  nextStart,
  type Schedules,
} from './schedules.ts'
import { ScheduleSettings } from './settings.ts'
import { nextDue, spreadOf } from './times.ts'
import { lookAtWatch, type WatchDependencies } from './watch.ts'

/** How often the process's clock is compared with the next due time, without a statement. */
const BEAT_MS = 1_000
/** How often the store is asked what is due, at rest. */
const LOOK_MS = 60_000
/** The same when instances share the store: a change at another one is noticed in this way. */
const SHARED_LOOK_MS = 4_000
/** How soon it is asked again after it could not answer. */
const RETRY_MS = 2_000
/** How often it is asked while an occurrence has not ended. */
const OPEN_LOOK_MS = 2_000
/** A longer silence means that the machine slept or the clock was set forward. */
const ASLEEP_MS = 10_000
/** How long another instance may take to notice that the one which led is gone: this is no downtime. */
const TAKE_OVER_MS = 30_000
/** Of more missed times in a row than this, the older ones are one entry. */
const MAX_MISSED = 100
/** More due times than this are not counted one by one. */
const MAX_COUNTED = 20_000
/** Due times that are computed in one turn of the event loop. */
const TIMES_AT_ONCE = 50
const HOUR_MS = 3_600_000

/** What the clock needs. */
export interface ClockDependencies extends ProgressDependencies, WatchDependencies {
  database: Database
  store: Store
  schedules: Schedules
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
  /** Occurrences that have not ended, by the id of their run where there is one. */
  open: Map<OccurrenceId, string | null>
  /** What is being worked on. */
  busy: Map<string, { again: boolean; done: Promise<void> }>
}

/** Create one per process. */
export function createScheduleClock(dependencies: ClockDependencies): ScheduleClock {
  const { store, now, log, schedules } = dependencies
  const begun = now()
  const state: State = {
    isLeading: false,
    upSince: begun,
    lastBeat: begun,
    nextLook: begun,
    open: new Map(),
    busy: new Map(),
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
      do {
        entry.again = false
        await work()
      } while (entry.again)
    }
    entry.done = perform()
      .catch((error: unknown) => log.warn({ err: error, key }, 'a schedule could not be looked at'))
      .finally(() => state.busy.delete(key))
    state.busy.set(key, entry)
    return entry.done
  }

  const follow = (id: OccurrenceId): Promise<void> =>
    once(id, async () => {
      let next = await progress(id, dependencies)
      if (next !== null && next.runId !== null && state.open.get(id) !== next.runId) {
        // A short run may have ended before anybody knew that it belongs to this occurrence.
        state.open.set(id, next.runId)
        next = await progress(id, dependencies)
      }
      if (next === null) {
        state.open.delete(id)
        return
      }
      state.open.set(id, next.runId)
      const at = now().getTime() + OPEN_LOOK_MS
      if (at < state.nextLook.getTime()) state.nextLook = new Date(at)
    })

  const fire = (id: ScheduleId): Promise<void> =>
    once(id, async () => {
      const { begin, next } = await advance(id, state.upSince, dependencies)
      if (next !== null && next < state.nextLook) state.nextLook = next
      for (const occurrence of begin) void follow(occurrence)
    })

  async function look(): Promise<void> {
    const moment = now()
    const pause = dependencies.isShared ? SHARED_LOOK_MS : LOOK_MS
    state.nextLook = new Date(moment.getTime() + pause)
    if (!state.isLeading) {
      // Only what this instance has begun.
      for (const id of state.open.keys()) void follow(id)
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
        void follow(item.id)
      } else if (item.dueAt <= moment) void fire(item.id)
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

  /** The occurrence that started the run may have ended. */
  function runChanged(runId: string): void {
    for (const [id, run] of state.open) if (run === runId) void follow(id)
  }

  schedules.onDue((item) => {
    if ('dueAt' in item) {
      if (item.dueAt < state.nextLook) state.nextLook = item.dueAt
    } else {
      state.open.set(item.occurrence, null)
      void follow(item.occurrence)
    }
  })

  schedules.onRunChange(runChanged)

  const endBeats = dependencies.every(BEAT_MS, async () => {
    if (state.isLeading || state.open.size > 0) await beat()
    else state.lastBeat = now()
  })

  async function settled(): Promise<void> {
    while (state.busy.size > 0) await Promise.all([...state.busy.values()].map(({ done }) => done))
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

/** Those that have not ended. */
const beginning = (rows: readonly OccurrenceRow[]): OccurrenceId[] =>
  rows.flatMap((row) => (row.endedAt === null ? [row.id] : []))

/** All due times from `from` to `until`, newest last, at most the newest that are counted. */
async function duesUntil(
  rule: { when: ScheduleSettings['when']; zone: string | null; since: Date },
  from: Date,
  until: Date,
): Promise<Date[]> {
  const times: Date[] = [from]
  for (;;) {
    const last = times.at(-1) ?? from
    const next = nextDue(rule, last)
    if (next === null || next > until || times.length >= MAX_COUNTED) return times
    times.push(next)
    if (times.length % TIMES_AT_ONCE === 0) await new Promise(setImmediate)
  }
}

/**
 * Stores what became due of a schedule and moves it on, in one transaction that only one instance can make. Returns the
 * occurrences to begin, and when the schedule is due next.
 */
async function advance(
  id: ScheduleId,
  upSince: Date,
  dependencies: ClockDependencies,
): Promise<Advanced> {
  const { store, database, now, announce } = dependencies
  const schedule = await store.schedules.get(id)
  if (schedule === undefined || schedule.nextAt === null || !schedule.enabled) return NOTHING
  const at = now()
  const { nextAt: from } = schedule
  if (from > at) return { begin: [], next: from }
  if (!(await mayRun(schedule, dependencies))) return NOTHING
  const settings = ScheduleSettings.parse(schedule.settings)
  const { when, zone } = settings
  const spread = spreadOf(id, when)
  const rule = { when, zone, since: schedule.since }
  const next = 'at' in when ? null : nextStart(id, settings, schedule.since, at)
  const times = await duesUntil(
    rule,
    new Date(from.getTime() - spread),
    new Date(at.getTime() - spread),
  )
  const move = { id, from, next }
  if (settings.watch !== null)
    return { begin: await lookAndAdvance(schedule, settings, move, times, dependencies), next }
  const { run, missed } = sortDues(times, { upSince, spread, at, settings }, dependencies)
  const added: OccurrenceRow[] = []
  await database.write(async (tx) => {
    added.length = 0
    if ((await store.schedules.advance(tx, move)) === undefined) return
    const rows = missedRows(id, missed, at)
    await store.occurrences.insertAll(tx, rows)
    added.push(...rows)
    for (const dueAt of run) {
      const stored = await addOccurrence(
        tx,
        newOccurrence(id, { dueAt, trigger: 'clock', at }),
        store,
      )
      if (stored !== null) added.push(stored)
    }
  })
  if (added.length === 0) return NOTHING
  announce(schedule.userId, { type: 'schedule', id, change: 'updated' })
  for (const row of added) announceOccurrence(row, schedule.userId, announce)
  const newest = run.at(-1)
  if (newest !== undefined)
    dependencies.observe({ kind: 'delay', seconds: (at.getTime() - newest.getTime()) / 1_000 })
  for (const { state } of added)
    if (state === 'missed' || state === 'skipped') dependencies.observe({ kind: 'ended', state })
  return { begin: beginning(added), next }
}

/** A schedule whose user may no longer have any is switched off. */
async function mayRun(
  schedule: ScheduleRow & { isActive: boolean },
  { database, store, schedules, announce }: ClockDependencies,
): Promise<boolean> {
  const isAllowed = (): boolean => {
    try {
      schedules.assertAllowed(schedule.userId)
      return true
    } catch {
      return false
    }
  }
  if (schedule.isActive && isAllowed()) return true
  await database.write(async (tx) => {
    await store.schedules.change(tx, schedule.id, {
      enabled: false,
      nextAt: null,
      disabledReason: 'owner',
    })
  })
  announce(schedule.userId, { type: 'schedule', id: schedule.id, change: 'updated' })
  return false
}

interface Missed {
  dueAt: Date
  reason: 'down' | 'catch_up_none' | 'too_old'
}

/** Which due times run, and which were missed because nobody looked at the clock. */
function sortDues(
  times: readonly Date[],
  {
    upSince,
    spread,
    at,
    settings,
  }: { upSince: Date; spread: number; at: Date; settings: ScheduleSettings },
  { catchUpHours }: Pick<ClockDependencies, 'catchUpHours'>,
): { run: Date[]; missed: Missed[] } {
  const wasDown = (time: Date): boolean => time.getTime() + spread < upSince.getTime()
  const late = times.filter(wasDown)
  const run = times.filter((time) => !wasDown(time))
  const missed: Missed[] = late.map((dueAt) => ({
    dueAt,
    reason: settings.catchUp === 'none' ? 'catch_up_none' : 'down',
  }))
  const newest = missed.at(-1)
  if (newest === undefined || settings.catchUp === 'none' || run.length > 0) return { run, missed }
  if (at.getTime() - newest.dueAt.getTime() > catchUpHours * HOUR_MS) {
    newest.reason = 'too_old'
    return { run, missed }
  }
  return { run: [newest.dueAt], missed: missed.slice(0, -1) }
}

/** The rows of missed times: the newest hundred, and one for all before them. */
function missedRows(id: ScheduleId, missed: readonly Missed[], at: Date): NewOccurrence[] {
  const listed = missed.length > MAX_MISSED ? missed.slice(-MAX_MISSED) : missed
  const older = missed.slice(0, missed.length - listed.length)
  const row = ({ dueAt, reason }: Missed, count: number): NewOccurrence => ({
    ...newOccurrence(id, { dueAt, trigger: 'clock', at }),
    state: 'missed',
    reason,
    count,
    endedAt: at,
  })
  const [first] = older
  return [
    ...(first === undefined ? [] : [row(first, older.length)]),
    ...listed.map((one) => row(one, 1)),
  ]
}

/** Looks at what is watched; only a change, or looks that keep failing, make an occurrence. */
async function lookAndAdvance(
  schedule: ScheduleRow,
  settings: ScheduleSettings,
  move: { id: ScheduleId; from: Date; next: Date | null },
  times: readonly Date[],
  dependencies: ClockDependencies,
): Promise<OccurrenceId[]> {
  const { store, database, now, announce } = dependencies
  const dueAt = times.at(-1) ?? move.from
  // Before the schedule moves on: a process that dies meanwhile leaves the look to the next one.
  const seen = await lookAtWatch(schedule, settings, dependencies)
  const at = now()
  const added: OccurrenceRow[] = []
  await database.write(async (tx) => {
    added.length = 0
    if ((await store.schedules.advance(tx, move)) === undefined) return
    const occurrence = newOccurrence(schedule.id, { dueAt, trigger: 'clock', at })
    if (seen.kind === 'failed') {
      const watchFailures = schedule.watchFailures + 1
      await store.schedules.change(tx, schedule.id, { watchFailures })
      if (watchFailures % 3 !== 0) return
      // Its end counts, and is told, as that of a run that failed.
      const failed: NewOccurrence = { ...occurrence, reason: 'watch_failed', detail: seen.detail }
      if (await store.occurrences.insert(tx, failed)) added.push(failed)
      return
    }
    await store.schedules.change(tx, schedule.id, { watchedAt: at, watchFailures: 0 })
    if (seen.content !== null) await store.schedules.setWatched(tx, schedule.id, seen.content)
    if (seen.input === null) return
    const stored = await addOccurrence(tx, { ...occurrence, input: seen.input }, store)
    if (stored !== null) added.push(stored)
  })
  announce(schedule.userId, { type: 'schedule', id: schedule.id, change: 'updated' })
  for (const row of added) announceOccurrence(row, schedule.userId, announce)
  return beginning(added)
}
