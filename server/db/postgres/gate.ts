// Who waits for a connection: a busy database makes people wait, one that is away tells everybody at once.
import pLimit from 'p-limit'
import { appError } from '../../errors.ts'

const capacity = 10_000

export interface Gate {
  /** Runs `work` when there is a connection for it. Throws `store_busy` when too many wait already. */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Turns everybody away who is still waiting: the database does not answer. */
  turnAway(): void
}

/** @param connections works that run at once. */
export function createGate(connections: number): Gate {
  const limit = pLimit({ concurrency: connections, rejectOnClear: true })
  return {
    async run<T>(work: () => Promise<T>): Promise<T> {
      if (limit.pendingCount >= capacity)
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
