// How long text is gathered: 50 ms while the process has time, more only while it is late.
import { expect, test } from 'vitest'
import { createGatherPace } from '../../../server/llm/streaming/provider-http.ts'

test('text is gathered for 50 ms, whatever the number of streams, while timers are on time', () => {
  const pace = createGatherPace()
  for (let now = 0; now < 60_000; now += 50) expect(pace.at(now, 8)).toBe(50)
})

test('text is gathered for longer while timers are late, for 80 ms at most, and for 50 ms again when they are not', () => {
  const pace = createGatherPace()
  const seen = (from: number, until: number, lateMs: number): number[] => {
    const values: number[] = []
    for (let now = from; now < until; now += 50) values.push(pace.at(now, lateMs))
    return [...new Set(values)]
  }
  expect(seen(0, 5_000, 30)).toEqual([60, 70, 80])
  expect(seen(5_000, 6_000, 8)).toEqual([80])
  expect(seen(6_000, 20_000, 1)).toEqual([70, 60, 50])
})
