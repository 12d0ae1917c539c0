// The queue for connections: while the database is busy, work waits; while it is unreachable, waiting work fails at once.
import pLimit from 'p-limit'
import { appError } from '../../errors.ts'

const CAPACITY = 10_000

export interface Gate {
  /** Runs `work` once a connection is free. Throws `store_busy` when too many wait already. */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Rejects all work that is still waiting: the database does not respond. */
  turnAway(): void
}

/** @param connections how many run at once. */
export function createGate(connections: number): Gate {
  const limit = pLimit({ concurrency: connections, rejectOnClear: true })
  return {
    async run<T>(work: () => Promise<T>): Promise<T> {
      if (limit.pendingCount >= CAPACITY)
        throw appError(
          'store_overloaded',
          {},
          {
            retryable: true,
            retryAfter: 2,
          },
        )
      let begun = false
      try {
        return await limit(() => {
          begun = true
          return work()
        })
      } catch (error) {
        if (begun) throw error
        throw appError(
          'store_unanswered',
          {},
          {
            retryable: true,
            retryAfter: 5,
            cause: error,
          },
        )
      }
    },
    turnAway: () => limit.clearQueue(),
  }
}
