// Limits the number of concurrent uploads, per user and in total.
import { appError } from '../../errors.ts'
import type { UserId } from '../../protocol/ids.ts'

export interface UploadSlots {
  /**
   * Runs `work` if a slot is free; never waits.
   * @throws AppError `too_many_requests` when this user has too many uploads in progress, `server_busy` when all users
   *   together have.
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
      if (own >= most.perUser) throw appError('uploads_exhausted', { limit: most.perUser }, retry)
      if (inAll >= most.inAll) throw appError('uploads_busy', {}, retry)
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
