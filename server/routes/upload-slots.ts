// How many uploads are taken in at once: of one user and of everybody.
import { AppError } from '../errors.ts'
import type { UserId } from '../protocol/ids.ts'

export interface UploadSlots {
  /**
   * Runs `work` when a place is free, and never waits: throws `too_many_requests` when this user has too many uploads under
   * way, `server_busy` when everybody together has.
   */
  run<T>(userId: UserId, work: () => Promise<T>): Promise<T>
}

const RETRY_SECONDS = 5

export function createUploadSlots(most: { perUser: number; inAll: number }): UploadSlots {
  const byUser = new Map<UserId, number>()
  let inAll = 0
  return {
    async run(userId, work) {
      const own = byUser.get(userId) ?? 0
      const retry = { retryable: true, retryAfter: RETRY_SECONDS }
      if (own >= most.perUser)
        throw new AppError(
          'too_many_requests',
          `At most ${most.perUser} uploads can run at once. Wait for one to end and try again.`,
          retry,
        )
      if (inAll >= most.inAll)
        throw new AppError(
          'server_busy',
          'The server is taking in too many uploads. Try again in a moment.',
          retry,
        )
      byUser.set(userId, own + 1)
      inAll++
      try {
        return await work()
      } finally {
        inAll--
        const left = (byUser.get(userId) ?? 1) - 1
        if (left === 0) byUser.delete(userId)
        else byUser.set(userId, left)
      }
    },
  }
}
