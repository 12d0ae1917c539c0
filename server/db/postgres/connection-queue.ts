// The queue for connections: while the database is busy, work waits; while it is unreachable, waiting work fails at once.
import pLimit from 'p-limit'
import { appError } from '../../errors.ts'

/** Units of work that may wait at the same time. */
const CAPACITY = 10_000

/** Waits for a free connection, in order. */
export interface ConnectionQueue {
  /** Runs `work` once a connection is free. @throws AppError `store_overloaded` when too many are waiting. */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Rejects all waiting work with `store_unanswered`, because the database does not respond. */
  rejectWaiting(): void
}

/** @param connections how many may run at the same time. */
export function createConnectionQueue(connections: number): ConnectionQueue {
  const limit = pLimit({ concurrency: connections, rejectOnClear: true })
  return {
    async run<T>(work: () => Promise<T>): Promise<T> {
      if (limit.pendingCount >= CAPACITY)
        throw appError('store_overloaded', {}, { retryable: true, retryAfter: 2 })
      let isStarted = false
      try {
        return await limit(() => {
          isStarted = true
          return work()
        })
      } catch (error) {
        if (isStarted) throw error
        throw appError('store_unanswered', {}, { retryable: true, retryAfter: 5, cause: error })
      }
    },
    rejectWaiting: () => limit.clearQueue(),
  }
}
