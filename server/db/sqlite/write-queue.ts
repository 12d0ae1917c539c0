// One after another: the lane that makes SQLite's single writer explicit.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { appError } from '../../errors.ts'

/** Milliseconds that writes may follow each other before everything else in the process gets its turn. */
const turnLimit = 5

export interface Lane {
  /** Runs `work` when everything that was put in before has settled. */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Fulfils when the lane is empty. */
  idle(): Promise<void>
}

/** @param capacity works in the lane at most; further ones are refused with `store_busy`. */
export function createLane(capacity: number): Lane {
  let last: Promise<void> = Promise.resolve()
  let count = 0
  /** When the first work of this turn of the event loop began; null before there was one. */
  let turnBegan: number | null = null

  /** Statements of SQLite settle without the event loop ever turning, so a queue of them would starve everything else. */
  async function takeTurns(): Promise<void> {
    if (turnBegan !== null && performance.now() - turnBegan > turnLimit) await nextTurn()
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
