// When a schedule is due: the next times of a cron pattern in a time zone, of an interval, and of a single time.
import { Cron } from 'croner'
import { LRUCache } from 'lru-cache'
import { appError } from '../errors.ts'
import { EVERY_UNITS_MS, type ScheduleWhen } from '../protocol/schedules/schedule.ts'

const DAY_MS = 24 * 3_600_000
/** Times of a day that are compared with each other; more cannot be a minute apart. */
const MAX_TIMES_OF_DAY = 1_500
/** Days on which a pattern is due that are looked through; they repeat after 400 years at the latest, most within a month. */
const MAX_DAYS = 500
/** Cron schedules for a full hour start within this time, each at its own moment. */
const SPREAD_MS = 60_000

// Zones.

const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: 600 })

/** @throws AppError `time_zone_unknown`. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known !== undefined) return known
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formats.set(zone, format)
    return format
  } catch {
    throw appError('time_zone_unknown', { zone })
  }
}

/** Only names of the IANA database: a fixed offset such as `+02:00` has no days of change. @throws AppError `time_zone_unknown`. */
export function assertZone(zone: string): void {
  if (/^[+-]/.test(zone)) throw appError('time_zone_unknown', { zone })
  formatOf(zone)
}

/** By how much a clock in the zone is ahead of UTC, in milliseconds, as the database of zones says. */
function measuredOffset(instant: number, zone: string): number {
  const parts: Record<string, number> = {}
  for (const { type, value } of formatOf(zone).formatToParts(instant)) parts[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) + (instant % 1_000) - instant
}

/** Offsets at midnight in UTC, by zone and day: asking the database of zones takes longer than all the rest. */
const midnights = new LRUCache<string, number>({ max: 20_000 })

function offsetAtMidnight(day: number, zone: string): number {
  const key = `${zone} ${day}`
  const known = midnights.get(key)
  if (known !== undefined) return known
  const offset = measuredOffset(day * DAY_MS, zone)
  midnights.set(key, offset)
  return offset
}

/** Only on a day that ends with another offset than it begins with, the instant itself is looked up. */
function offsetAt(instant: number, zone: string): number {
  const day = Math.floor(instant / DAY_MS)
  const offset = offsetAtMidnight(day, zone)
  return offset === offsetAtMidnight(day + 1, zone) ? offset : measuredOffset(instant, zone)
}

/** What a clock on the wall shows in the zone, as if it were UTC, in milliseconds. */
const wallOf = (instant: number, zone: string): number => instant + offsetAt(instant, zone)

/**
 * The instants at which a clock in the zone shows this time, in order: one, two when it comes twice, and for a time that does not
 * exist the end of the gap.
 */
function instantsOf(wall: number, zone: string): number[] {
  const before = offsetAt(wall - DAY_MS, zone)
  const after = offsetAt(wall + DAY_MS, zone)
  const found = [...new Set([before, after])]
    .map((offset) => wall - offset)
    .filter((instant) => wallOf(instant, zone) === wall)
    .sort((one, other) => one - other)
  return found.length > 0 ? found : [endOfGap(wall - after, wall - before, wall, zone)]
}

/** The first instant between the two at which the clock shows a later time than `wall`. */
function endOfGap(from: number, to: number, wall: number, zone: string): number {
  let [low, high] = [Math.min(from, to), Math.max(from, to)]
  while (high - low > 1_000) {
    const middle = Math.floor((low + high) / 2_000) * 1_000
    if (middle <= low) break
    if (wallOf(middle, zone) > wall) high = middle
    else low = middle
  }
  return high
}

// Cron patterns.

const NAME = '(?:[a-z]{3})'
const VALUE = `(?:\\d{1,2}|${NAME})`
const ITEM = `(?:\\*|${VALUE}(?:-${VALUE})?)(?:/\\d{1,2})?`
/** Five fields of `* , - /`, numbers and names. Croner also knows `L`, `W`, `#`, `?`, `+` and nicknames. */
const FIELDS = new RegExp(`^${ITEM}(?:,${ITEM})*(?: ${ITEM}(?:,${ITEM})*){4}$`, 'i')

/** A pattern whose times are read off a clock on the wall, without a zone. */
interface WallPattern {
  /** The first time after this one; null if there is none. */
  next(wall: number): number | null
  /** Whether the hour is `*` or a step of it, so that an hour that comes twice counts twice. */
  isEveryHour: boolean
  /** Whether it is for minute 0. */
  isFullHour: boolean
}

const patterns = new LRUCache<string, WallPattern>({ max: 2_000 })

/** @throws AppError `cron_invalid`. */
function patternOf(cron: string): WallPattern {
  const known = patterns.get(cron)
  if (known !== undefined) return known
  const text = cron.trim().replace(/\s+/g, ' ')
  const [minute = '', hour = '', day = '', , weekday = ''] = text.split(' ')
  if (!FIELDS.test(text)) throw appError('cron_invalid', { cron })
  let parsed: Cron
  try {
    parsed = new Cron(text, {
      // As UTC; `timezone: 'UTC'` would ask the database of zones at each time.
      utcOffset: 0,
      mode: '5-part',
      // Both restricted: either matches. A field that begins with `*` is not a restriction of this kind.
      domAndDow: day.startsWith('*') || weekday.startsWith('*'),
    })
  } catch {
    throw appError('cron_invalid', { cron })
  }
  const pattern: WallPattern = {
    next: (wall) => parsed.nextRun(new Date(wall))?.getTime() ?? null,
    isEveryHour: hour.startsWith('*'),
    isFullHour: /^0{1,2}$/.test(minute),
  }
  patterns.set(cron, pattern)
  return pattern
}

/** By how much clocks in the zone change within a day of this instant, in milliseconds. */
const changeAround = (instant: number, zone: string): number =>
  Math.abs(offsetAt(instant - DAY_MS, zone) - offsetAt(instant + DAY_MS, zone))

/** The times come in the order in which a clock shows them, except where the clock changes: there, all around are compared. */
function nextCron(cron: string, zone: string, after: number): number | null {
  const pattern = patternOf(cron)
  let best: number | null = null
  let last = Number.POSITIVE_INFINITY
  const from = wallOf(after, zone) - changeAround(after, zone)
  for (let wall = pattern.next(from); wall !== null && wall <= last; wall = pattern.next(wall)) {
    const instants = instantsOf(wall, zone)
    for (const instant of pattern.isEveryHour ? instants : instants.slice(0, 1))
      if (instant > after && (best === null || instant < best)) best = instant
    if (best === null) continue
    const change = changeAround(best, zone)
    if (change === 0) break
    last = wallOf(best, zone) + change
  }
  return best
}

// What a schedule says.

/** Milliseconds of an interval such as `15m`, `2h` or `30d`. */
export function everyMs(every: string): number {
  const unit = every.at(-1)
  const { m, h, d } = EVERY_UNITS_MS
  return Number(every.slice(0, -1)) * (unit === 'm' ? m : unit === 'h' ? h : d)
}

/** When a schedule is due, with its zone and the time from which its intervals count. */
export interface DueRule {
  when: ScheduleWhen
  /** Set for cron patterns. */
  zone: string | null
  /** From which intervals count. */
  since: Date
}

/** The first due time after this one; null if there is none. @throws AppError `cron_invalid`, `time_zone_unknown`. */
export function nextDue({ when, zone, since }: DueRule, after: Date): Date | null {
  const time = after.getTime()
  if ('hook' in when) return null
  if ('at' in when) return new Date(when.at) > after ? new Date(when.at) : null
  if ('every' in when) {
    const ms = everyMs(when.every)
    const passed = Math.max(0, Math.floor((time - since.getTime()) / ms))
    return new Date(since.getTime() + (passed + 1) * ms)
  }
  const next = nextCron(when.cron, zone ?? 'UTC', time)
  return next === null ? null : new Date(next)
}

/** The next due times, at most `count`. @throws AppError `cron_invalid`, `time_zone_unknown`. */
export function nextDues(rule: DueRule, after: Date, count: number): Date[] {
  const times: Date[] = []
  let last: Date | null = after
  while (times.length < count) {
    last = nextDue(rule, last)
    if (last === null) break
    times.push(last)
  }
  return times
}

/**
 * Checks that a schedule comes at all, and not more often than `minIntervalSeconds`.
 * @throws AppError `cron_invalid`, `never_due`, `too_often`.
 */
export function assertDueRule(when: ScheduleWhen, minIntervalSeconds: number): void {
  const limit = minIntervalSeconds * 1_000
  const tooOften = () => appError('too_often', { seconds: minIntervalSeconds })
  if ('every' in when && everyMs(when.every) < limit) throw tooOften()
  if (!('cron' in when)) return
  const pattern = patternOf(when.cron)
  // As a clock without changes shows them: every day on which it is due has the same times.
  const first = pattern.next(Date.UTC(2024, 0, 1) - 1)
  if (first === null) throw appError('never_due', { cron: when.cron })
  const midnight = Math.floor(first / DAY_MS + 1) * DAY_MS
  let last = first
  for (let number = 0; number < MAX_TIMES_OF_DAY; number += 1) {
    const next = pattern.next(last)
    if (next === null || next >= midnight) break
    if (next - last < limit) throw tooOften()
    last = next
  }
  if (first + DAY_MS - last < limit && hasTwoDays(pattern, first)) throw tooOften()
}

/** Whether a pattern is ever due on two days in a row. */
function hasTwoDays(pattern: WallPattern, first: number): boolean {
  const dayOf = (time: number): number => Math.floor(time / DAY_MS)
  let day = dayOf(first)
  for (let number = 0; number < MAX_DAYS; number += 1) {
    const next = pattern.next((day + 1) * DAY_MS - 1)
    if (next === null) return false
    if (dayOf(next) === day + 1) return true
    day = dayOf(next)
  }
  return false
}

/** How long after its due time a schedule starts, in milliseconds: cron schedules for minute 0 are spread over a minute by their id. */
export function spreadOf(id: string, when: ScheduleWhen): number {
  if (!('cron' in when) || when.exact === true || !patternOf(when.cron).isFullHour) return 0
  let hash = 2_166_136_261
  for (const character of id) hash = Math.imul(hash ^ character.charCodeAt(0), 16_777_619)
  return (hash >>> 0) % SPREAD_MS
}
