// The write queue: makes SQLite's single writer explicit, one transaction at a time.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { appError } from '../../errors.ts'

/** Milliseconds that writes may run back to back before they yield to the event loop. */
const TURN_LIMIT_MS = 5

/** One transaction at a time, in order. */
export interface WriteQueue {
  /** Runs `work` when everything queued before it has settled. */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Resolves when the queue is empty. */
  idle(): Promise<void>
}

/** @param capacity maximum queue length; further work is refused with `store_overloaded`. */
export function createWriteQueue(capacity: number): WriteQueue {
  let last: Promise<void> = Promise.resolve()
  let count = 0
  /** When the first write of this turn of the event loop started; null until then. */
  let turnStartedAt: number | null = null

  /** SQLite's statements settle without yielding to the event loop, so a full queue would starve everything else. */
  async function yieldToEventLoop(): Promise<void> {
    if (turnStartedAt !== null && performance.now() - turnStartedAt > TURN_LIMIT_MS)
      await nextTurn()
    if (turnStartedAt !== null) return
    turnStartedAt = performance.now()
    setImmediate(() => {
      turnStartedAt = null
    })
  }

  return {
    async run<T>(work: () => Promise<T>): Promise<T> {
      if (count >= capacity)
        throw appError('store_overloaded', {}, { retryable: true, retryAfter: 2 })
      const before = last
      let done = (): void => {}
      last = new Promise((resolve) => {
        done = resolve
      })
      count += 1
      try {
        await before
        await yieldToEventLoop()
        return await work()
      } finally {
        count -= 1
        done()
      }
    },
    async idle() {
      while (count > 0) await last
    },
  }
}
