// Runs that nobody listens to are stopped, on fake timers.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { newId } from '../../../../server/lib/ids.ts'
import type { RunId } from '../../../../server/protocol/ids.ts'
import { type ActiveRun, createActiveRun } from '../../../../server/runs/active-run.ts'
import { createRunLog } from '../../../../server/runs/log/log.ts'
import { stopWhenUnattended } from '../../../../server/runs/worker.ts'

const GRACE_MS = 60_000
const listener = { onEntries() {}, onClose() {} }

describe('a run', () => {
  let active: ActiveRun

  beforeEach(() => {
    vi.useFakeTimers()
    active = createActiveRun(newId<RunId>(), createRunLog({ entries: [], steps: [], lastId: 0 }))
  })
  afterEach(() => void vi.useRealTimers())

  const watch = () => stopWhenUnattended(active, { onDisconnect: 'grace', graceMs: GRACE_MS })

  test('is stopped when its last listener has been gone for the grace period', () => {
    watch()
    const leave = active.runLog.subscribe(listener)
    vi.advanceTimersByTime(2 * GRACE_MS)
    expect(active.stopReason).toBeNull()
    leave()
    vi.advanceTimersByTime(GRACE_MS)
    expect(active.stopReason).toBe('stopped')
  })

  test('is not stopped when a listener returns within the grace period', () => {
    watch()
    active.runLog.subscribe(listener)()
    vi.advanceTimersByTime(GRACE_MS - 1)
    active.runLog.subscribe(listener)
    vi.advanceTimersByTime(2 * GRACE_MS)
    expect(active.stopReason).toBeNull()
  })

  test('is kept in memory by no timer when its last listener leaves after its end', () => {
    const end = watch()
    const leave = active.runLog.subscribe(listener)
    end()
    leave()
    expect(vi.getTimerCount()).toBe(0)
  })
})
