// When an instance must expect that messages of others were lost.
import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createBus } from '../../../server/cluster/bus.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('state that must not depend on a message is checked every 5 s while Redis is unavailable, when it is back, and every minute', () => {
  let isReady = false
  let change = (_isReady: boolean): void => {}
  const connection = Object.assign(new EventEmitter(), { status: 'end' })
  const bus = createBus({
    redis: {
      commands: connection as never,
      subscriber: connection as never,
      get isReady() {
        return isReady
      },
      onChange: (listener) => {
        change = listener
      },
    },
    namespace: 'test',
    instance: 'a',
    log: { warn() {} },
  })
  const look = vi.fn()
  bus.onDoubt(look)
  const looksWithin = (ms: number): number => {
    look.mockClear()
    vi.advanceTimersByTime(ms)
    return look.mock.calls.length
  }
  expect(looksWithin(30_000)).toBe(6)
  look.mockClear()
  isReady = true
  change(true)
  expect(look).toHaveBeenCalledTimes(1)
  expect(looksWithin(55_000)).toBe(0)
  expect(looksWithin(130_000)).toBe(3)
  bus.close()
  expect(looksWithin(600_000)).toBe(0)
})
