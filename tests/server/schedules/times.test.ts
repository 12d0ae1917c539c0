// Due times of schedules: cron patterns in zones whose clocks change, intervals, and what is refused.
import { expect, test } from 'vitest'
import {
  assertDueRule,
  assertZone,
  nextDue,
  nextDues,
  spreadOf,
} from '../../../server/schedules/times.ts'
import { dueMinutes, type Shown, shownMinutes, ZONES } from '../../support/clock-times.ts'
import { randomFrom, SEED } from '../../support/random.ts'

const since = new Date('2026-01-01T00:00:00Z')
const cronTimes = (cron: string, zone: string, after: string, count: number): string[] =>
  nextDues({ when: { cron }, zone, since }, new Date(after), count).map((time) =>
    time.toISOString(),
  )
const reasonOf = (act: () => unknown): string => {
  try {
    act()
    return 'accepted'
  } catch (error) {
    return (error as { reason: string }).reason // every refusal is an AppError
  }
}

test('a local time that does not exist fires at the end of the gap, once', () => {
  expect(cronTimes('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual([
    '2026-03-29T01:00:00.000Z',
    '2026-03-30T00:30:00.000Z',
  ])
  // Both times of the list fall into the gap.
  expect(cronTimes('15,45 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual([
    '2026-03-29T01:00:00.000Z',
    '2026-03-30T00:15:00.000Z',
  ])
  // The clock jumps at midnight.
  expect(cronTimes('30 0 * * *', 'Africa/Cairo', '2026-04-23T12:00:00Z', 1)).toEqual([
    '2026-04-23T22:00:00.000Z',
  ])
})

test('a local time that comes twice fires the first time only, unless the hour is a star or a step of it', () => {
  expect(cronTimes('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)).toEqual([
    '2026-10-25T00:30:00.000Z',
    '2026-10-26T01:30:00.000Z',
  ])
  expect(cronTimes('30 * * * *', 'Europe/Berlin', '2026-10-25T00:00:00Z', 3)).toEqual([
    '2026-10-25T00:30:00.000Z',
    '2026-10-25T01:30:00.000Z',
    '2026-10-25T02:30:00.000Z',
  ])
  expect(cronTimes('30 */2 * * *', 'Europe/Berlin', '2026-10-25T00:00:00Z', 3)).toEqual([
    '2026-10-25T00:30:00.000Z',
    '2026-10-25T01:30:00.000Z',
    '2026-10-25T03:30:00.000Z',
  ])
})

test('with both day fields restricted either matches; a field that begins with a star is no restriction', () => {
  expect(cronTimes('0 0 13 * 5', 'UTC', '2026-01-01T00:00:00Z', 3)).toEqual([
    '2026-01-02T00:00:00.000Z',
    '2026-01-09T00:00:00.000Z',
    '2026-01-13T00:00:00.000Z',
  ])
  // Mondays that are odd days.
  expect(cronTimes('0 0 */2 * 1', 'UTC', '2026-01-01T00:00:00Z', 2)).toEqual([
    '2026-01-05T00:00:00.000Z',
    '2026-01-19T00:00:00.000Z',
  ])
})

test('names have three letters in any case, and 0 and 7 are Sunday', () => {
  const sundays = cronTimes('0 8 * * SUN', 'UTC', '2026-01-01T00:00:00Z', 3)
  expect(cronTimes('0 8 * * 0', 'UTC', '2026-01-01T00:00:00Z', 3)).toEqual(sundays)
  expect(cronTimes('0 8 * * 7', 'UTC', '2026-01-01T00:00:00Z', 3)).toEqual(sundays)
  expect(cronTimes('0 8 1 jAn *', 'UTC', '2026-01-01T00:00:00Z', 1)).toEqual([
    '2026-01-01T08:00:00.000Z',
  ])
})

test('patterns of other dialects, ranges that wrap and days that never come are refused', () => {
  for (const cron of ['0 0 L * *', '0 0 15W * *', '0 0 * * 5#2', '@daily', '0 0 ? * *'])
    expect([cron, reasonOf(() => assertDueRule({ cron }, 60))]).toEqual([cron, 'cron_invalid'])
  for (const cron of [
    '0 22-6 * * *',
    '60 0 * * *',
    '0 0 0 * *',
    '0 0 * *',
    '0 0 * * 2026 *',
    '/5 * * * *',
  ])
    expect([cron, reasonOf(() => assertDueRule({ cron }, 60))]).toEqual([cron, 'cron_invalid'])
  expect(reasonOf(() => assertDueRule({ cron: '0 0 31 2 *' }, 60))).toBe('never_due')
  expect(reasonOf(() => assertDueRule({ cron: '0 0 29 2 *' }, 60))).toBe('accepted')
  expect(reasonOf(() => assertZone('Mars/Olympus'))).toBe('time_zone_unknown')
  expect(reasonOf(() => assertZone('+02:00'))).toBe('time_zone_unknown')
  expect(reasonOf(() => assertZone('Europe/Berlin'))).toBe('accepted')
})

test('times closer to each other than the least interval are refused, also over midnight', () => {
  expect(reasonOf(() => assertDueRule({ cron: '*/4 * * * *' }, 300))).toBe('too_often')
  expect(reasonOf(() => assertDueRule({ cron: '*/5 * * * *' }, 300))).toBe('accepted')
  expect(reasonOf(() => assertDueRule({ cron: '0,2 9 * * *' }, 300))).toBe('too_often')
  expect(reasonOf(() => assertDueRule({ cron: '0,58 0,23 * * *' }, 300))).toBe('too_often')
  // From the 31st to the 1st, but not from the 1st to the 2nd, which is not a day of the pattern.
  expect(reasonOf(() => assertDueRule({ cron: '2,58 0,23 1,31 * *' }, 300))).toBe('too_often')
  expect(reasonOf(() => assertDueRule({ cron: '2,58 0,23 1,15 * *' }, 300))).toBe('accepted')
  expect(reasonOf(() => assertDueRule({ every: '4m' }, 300))).toBe('too_often')
  expect(reasonOf(() => assertDueRule({ every: '5m' }, 300))).toBe('accepted')
})

test('an interval counts from its beginning, without drift', () => {
  const rule = { when: { every: '15m' }, zone: null, since: new Date('2026-01-01T00:07:03.250Z') }
  expect(nextDue(rule, new Date('2026-01-01T00:00:00Z'))?.toISOString()).toBe(
    '2026-01-01T00:22:03.250Z',
  )
  expect(nextDue(rule, new Date('2026-03-01T11:58:10Z'))?.toISOString()).toBe(
    '2026-03-01T12:07:03.250Z',
  )
})

test('cron schedules for minute 0 are spread over a minute by their id, others and exact ones are not', () => {
  const ids = Array.from({ length: 400 }, (_, number) => `schedule-${number}`)
  const spreads = ids.map((id) => spreadOf(id, { cron: '0 8 * * *' }))
  expect(Math.min(...spreads)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...spreads)).toBeLessThan(60_000)
  expect(new Set(spreads.map((ms) => Math.floor(ms / 10_000))).size).toBe(6)
  expect(spreadOf('a', { cron: '0 8 * * *' })).toBe(spreadOf('a', { cron: '0 8 * * *' }))
  for (const when of [
    { cron: '0 8 * * *', exact: true },
    { cron: '5 8 * * *' },
    { every: '1h' },
  ] as const)
    expect(spreadOf('a', when)).toBe(0)
})

const MINUTE = 60_000

const { below: random } = randomFrom(SEED)

test(`10,000 due times over the days of change of six zones are those that a clock shows (seed ${SEED})`, () => {
  let compared = 0
  const changes: Record<string, string[]> = {
    'Europe/Berlin': ['2026-03-29', '2026-10-25'],
    'America/New_York': ['2026-03-08', '2026-11-01'],
    'Australia/Lord_Howe': ['2026-04-04', '2026-10-03'],
    'Africa/Cairo': ['2026-04-23', '2026-10-29'],
    'Asia/Kathmandu': ['2026-06-01'],
    'America/Santiago': ['2026-04-04', '2026-09-05'],
  }
  const spans = ZONES.flatMap((zone) =>
    (changes[zone] ?? []).map((day) => {
      const from = Date.parse(`${day}T00:00:00Z`) - 36 * 60 * MINUTE
      const to = from + 5 * 24 * 60 * MINUTE
      return { zone, from, to, minutes: shownMinutes(zone, from - 24 * 60 * MINUTE, to) }
    }),
  )
  while (compared < 10_000) {
    const span = spans[random(spans.length)]
    if (span === undefined) throw new Error('no span')
    const step = [5, 10, 15, 20, 30][random(5)] ?? 5
    const minute = random(60)
    const hour = random(24)
    const hours = random(3)
    const days = random(4)
    const weekday = random(7)
    const monthDay = 1 + random(28)
    const cron = [
      step === 5 && random(2) === 0 ? `*/${step}` : String(minute),
      hours === 0 ? '*' : hours === 1 ? '*/3' : String(hour),
      days === 1 || days === 3 ? String(monthDay) : '*',
      '*',
      days === 2 || days === 3 ? String(weekday) : '*',
    ].join(' ')
    const matches = (time: Shown): boolean =>
      (cron.startsWith('*/') ? time.minute % step === 0 : time.minute === minute) &&
      (hours === 0 || (hours === 1 ? time.hour % 3 === 0 : time.hour === hour)) &&
      (days === 0 ||
        (days === 1 && time.day === monthDay) ||
        (days === 2 && time.weekday === weekday) ||
        (days === 3 && (time.day === monthDay || time.weekday === weekday)))
    const expected = dueMinutes(span.minutes, matches, hours !== 2).filter(
      (instant) => instant > span.from,
    )
    const found = nextDues(
      { when: { cron }, zone: span.zone, since },
      new Date(span.from),
      expected.length,
    ).map((time) => time.getTime())
    expect({ cron, zone: span.zone, found }).toEqual({ cron, zone: span.zone, found: expected })
    compared += Math.max(1, expected.length)
  }
})
