// The shared moments at which growing texts are stored, on fake timers.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createStoreMoments } from '../../../server/runs/group-commit.ts'

describe('the moments at which texts are stored', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('are the same for all that wait', () => {
    const moments = createStoreMoments()
    const stored: string[] = []
    moments.next(() => stored.push('a'))
    vi.advanceTimersByTime(300)
    moments.next(() => stored.push('b'))
    vi.advanceTimersByTime(199)
    expect(stored).toEqual([])
    vi.advanceTimersByTime(1)
    expect(stored).toEqual(['a', 'b'])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('leave out what was cancelled, and need no timer when nothing waits', () => {
    const moments = createStoreMoments()
    const stored: string[] = []
    const cancel = moments.next(() => stored.push('a'))
    moments.next(() => stored.push('b'))
    cancel()
    cancel()
    vi.advanceTimersByTime(500)
    expect(stored).toEqual(['b'])
    moments.next(() => stored.push('c'))()
    expect(vi.getTimerCount()).toBe(0)
    vi.advanceTimersByTime(5_000)
    expect(stored).toEqual(['b'])
  })
})
