// The write queue: makes SQLite's single writer explicit, one transaction at a time.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { appError } from '../../errors.ts'

/** Milliseconds that writes may run back to back before they yield to the event loop. */
const TURN_LIMIT_MS = 5

export interface Lane {
  /** Runs `work` when everything queued before has settled. */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Resolves when the queue is empty. */
  idle(): Promise<void>
}

/** @param capacity maximum queue length; further work is refused with `store_busy`. */
export function createLane(capacity: number): Lane {
  let last: Promise<void> = Promise.resolve()
  let count = 0
  /** When the first work of this turn of the event loop started; null before there was one. */
  let turnBegan: number | null = null

  /** SQLite's statements settle without yielding to the event loop, so a full queue would starve everything else. */
  async function takeTurns(): Promise<void> {
    if (turnBegan !== null && performance.now() - turnBegan > TURN_LIMIT_MS) await nextTurn()
    if (turnBegan !== null) return
    turnBegan = performance.now()
    setImmediate(() => {
      turnBegan = null
    })
  }

  return {
    async run<T>(work: () => Promise<T>): Promise<T> {
      if (count >= capacity)
        throw appError(
          'store_overloaded',
          {},
          {
            retryable: true,
            retryAfter: 2,
          },
        )
      const before = last
      let done = (): void => {}
      last = new Promise((resolve) => {
        done = resolve
      })
      count += 1
      try {
        await before
        await takeTurns()
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
