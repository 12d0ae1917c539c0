// The due times that have passed since a schedule was last looked at: which of them run, and which were missed.
import type { NewOccurrence } from '../db/repositories/schedules/occurrences.ts'
import type { ScheduleId } from '../protocol/schedules/schedule.ts'
import { newOccurrence } from './schedules.ts'
import type { ScheduleSettings } from './settings.ts'
import { type DueRule, everyMs, nextDue } from './times.ts'

/** Of more missed times in a row than this, the older ones are one entry. */
const MAX_MISSED = 100
/** Due times that are kept one by one: those that are listed, and some that run. */
const MAX_KEPT = 2 * MAX_MISSED
/** Times of a pattern that are counted one by one; a year of one that comes every five minutes. What is between is estimated. */
const MAX_COUNTED = 110_000
/** Due times that are computed in one turn of the event loop. */
const TIMES_AT_ONCE = 100
const HOUR_MS = 3_600_000

/** The newest due times, in order, and how many came before them. */
interface PassedTimes {
  times: Date[]
  older: { first: Date; count: number } | null
}

/** All due times from `from`, which is one, to `until`. */
export async function duesUntil(
  rule: DueRule,
  from: Date,
  until: Date,
  maxCounted = MAX_COUNTED,
): Promise<PassedTimes> {
  if ('every' in rule.when) return ofInterval(everyMs(rule.when.every), from, until)
  const times: Date[] = [from]
  let count = 1
  let hasLeapt = false
  for (;;) {
    let last = times.at(-1) ?? from
    if (count >= maxCounted && !hasLeapt) {
      hasLeapt = true
      const spacing = (last.getTime() - from.getTime()) / (count - 1)
      const leap = new Date(until.getTime() - spacing * 2 * MAX_KEPT)
      if (leap > last) {
        count += Math.round((leap.getTime() - last.getTime()) / spacing)
        last = leap
      }
    }
    const next = nextDue(rule, last)
    if (next === null || next > until) break
    times.push(next)
    count += 1
    if (times.length >= 2 * MAX_KEPT) times.splice(0, times.length - MAX_KEPT)
    if (count % TIMES_AT_ONCE === 0) await new Promise(setImmediate)
  }
  return kept(times, from, count)
}

function ofInterval(ms: number, from: Date, until: Date): PassedTimes {
  const count = Math.max(0, Math.floor((until.getTime() - from.getTime()) / ms)) + 1
  const listed = Math.min(count, MAX_KEPT)
  const times = Array.from(
    { length: listed },
    (_, at) => new Date(from.getTime() + (count - listed + at) * ms),
  )
  return kept(times, from, count)
}

function kept(all: readonly Date[], first: Date, count: number): PassedTimes {
  const times = all.slice(-MAX_KEPT)
  return { times, older: count > times.length ? { first, count: count - times.length } : null }
}

interface Missed {
  dueAt: Date
  reason: 'down' | 'catch_up_none' | 'too_old'
}

/** What becomes of due times that have passed. */
export interface SortedTimes {
  run: Date[]
  missed: Missed[]
  /** Missed ones that are not listed one by one. */
  older: PassedTimes['older']
}

/** Which due times run, and which were missed because nobody looked at the clock since before `upSince`. */
export function sortDues(
  { times, older }: PassedTimes,
  {
    upSince,
    spread,
    at,
    settings,
    catchUpHours,
  }: {
    upSince: Date
    /** How long after its due time the schedule starts, in milliseconds. */
    spread: number
    at: Date
    settings: Pick<ScheduleSettings, 'catchUp'>
    /** Hours after which a missed time is not caught up. */
    catchUpHours: number
  },
): SortedTimes {
  const wasDown = (time: Date): boolean => time.getTime() + spread < upSince.getTime()
  const run = times.filter((time) => !wasDown(time))
  const missed: Missed[] = times.filter(wasDown).map((dueAt) => ({
    dueAt,
    reason: settings.catchUp === 'none' ? 'catch_up_none' : 'down',
  }))
  const newest = missed.at(-1)
  if (newest === undefined || settings.catchUp === 'none' || run.length > 0)
    return { run, missed, older }
  if (at.getTime() - newest.dueAt.getTime() > catchUpHours * HOUR_MS) {
    newest.reason = 'too_old'
    return { run, missed, older }
  }
  return { run: [newest.dueAt], missed: missed.slice(0, -1), older }
}

/** The rows of missed times: the newest hundred, and one for all before them. */
export function missedRows(
  id: ScheduleId,
  { missed, older }: SortedTimes,
  at: Date,
): NewOccurrence[] {
  const listed = missed.slice(-MAX_MISSED)
  const rest = missed.slice(0, missed.length - listed.length)
  const row = ({ dueAt, reason }: Missed, count: number): NewOccurrence => ({
    ...newOccurrence(id, { dueAt, trigger: 'clock', at }),
    state: 'missed',
    reason,
    count,
    endedAt: at,
  })
  const first = older?.first ?? rest[0]?.dueAt
  const reason = (rest[0] ?? missed[0])?.reason ?? 'down'
  return [
    ...(first === undefined
      ? []
      : [row({ dueAt: first, reason }, (older?.count ?? 0) + rest.length)]),
    ...listed.map((one) => row(one, 1)),
  ]
}
