// The times that are computed from a run's timeline.
import { expect, test } from 'vitest'
import { CallId } from '../../../../server/protocol/ids.ts'
import {
  type TimelineEntry,
  timingOf,
  wholeSpanOf,
} from '../../../../server/protocol/runs/run-timeline.ts'

const at = (second: number): string => new Date(second * 1_000).toISOString()
const call = (start: number, seconds: number): TimelineEntry => ({
  kind: 'tool',
  started_at: at(start),
  duration_ms: seconds * 1_000,
  id_ref: CallId.parse('call'),
  name: 'exec',
  success: true,
  skipped: false,
  cached: false,
})

test('the time of an answer counts each moment once and no waiting', () => {
  // Two calls at once, the shorter of which ends first; then a person takes eight minutes.
  const entries = [call(1, 2), call(0, 10), call(500, 5)]
  expect(timingOf(entries)?.duration_ms).toBe(15_000)
  expect(wholeSpanOf(entries)).toBe(505_000)
  expect(timingOf([])).toBeNull()
})
