// The times that pass while nobody looks: which run, which are listed, and how many are one entry.
import { expect, test } from 'vitest'
import { ScheduleId } from '../../../server/protocol/schedules/schedule.ts'
import { duesUntil, missedRows, sortDues } from '../../../server/schedules/due-times.ts'

const DAY_MS = 86_400_000
const from = new Date('2026-01-01T00:00:00Z')
const settings = { catchUp: 'one' as const }
const rows = async (
  when: Parameters<typeof duesUntil>[0]['when'],
  days: number,
  maxCounted?: number,
) => {
  const at = new Date(from.getTime() + days * DAY_MS + 1_000)
  const passed = await duesUntil({ when, zone: 'UTC', since: from }, from, at, maxCounted)
  const sorted = sortDues(passed, { upSince: at, spread: 0, at, settings, catchUpHours: 24 })
  return { sorted, missed: missedRows(ScheduleId.parse('one'), sorted, at) }
}

test.each([
  ['an interval', { every: '5m' }],
  ['a pattern', { cron: '*/5 * * * *' }],
])(
  'after a hundred days without the server, the newest time of %s runs, a hundred are listed, and all others are one entry',
  async (_name, when) => {
    const { sorted, missed } = await rows(when, 100)
    const newest = new Date(from.getTime() + 100 * DAY_MS)
    expect(sorted.run).toEqual([newest])
    expect(missed).toHaveLength(101)
    expect(missed[0]).toMatchObject({ dueAt: from, count: 100 * 288 - 100, reason: 'down' })
    expect(missed.slice(1).map(({ dueAt }) => dueAt)).toEqual(
      Array.from({ length: 100 }, (_, at) => new Date(newest.getTime() - (100 - at) * 300_000)),
    )
    expect(new Set(missed.slice(1).map(({ count }) => count))).toEqual(new Set([1]))
  },
)

test('of more times than are counted, the newest are exact and the number of the others is near', async () => {
  const { sorted, missed } = await rows({ cron: '*/5 * * * *' }, 100, 1_000)
  expect(sorted.run).toEqual([new Date(from.getTime() + 100 * DAY_MS)])
  expect(missed).toHaveLength(101)
  expect(missed[0]?.dueAt).toEqual(from)
  expect(Math.abs((missed[0]?.count ?? 0) - (100 * 288 - 100))).toBeLessThan(10)
})
