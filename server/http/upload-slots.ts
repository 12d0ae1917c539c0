// Limits the number of concurrent uploads: per user, and in total for this process, whose memory and disk they use.
import { appError } from '../errors.ts'
import { createFairQueue } from '../lib/fair-queue.ts'
import type { Limits } from '../lib/limits.ts'
import type { UserId } from '../protocol/ids.ts'

/** Limits how many uploads are in progress at once. */
export interface UploadSlots {
  /**
   * Runs `work` if a slot is free; never waits.
   * @throws AppError `too_many_requests` when this user has too many uploads in progress, `server_busy` when all users
   *   together have.
   */
  run<T>(userId: UserId, work: () => Promise<T>): Promise<T>
  /**
   * Like `run`, for a body that is kept in memory as a whole: `work` receives it and sends it on when there is memory for it.
   * Until then, the client's sending waits.
   */
  runInMemory<T>(userId: UserId, work: () => Promise<T>): Promise<T>
}

const RETRY_SECONDS = 5
/** Concurrent uploads, of folders and documents together. */
const MOST = { perUser: 4, inAll: 32 }
/** Bodies that are in memory at the same time, of all users and of one. */
const IN_MEMORY = { size: 6, perOwner: 2 }

/** Counts uploads per user at all instances, and in total at this one. */
export function createUploadSlots(
  limits: Pick<Limits, 'slots'>,
  most: { perUser: number; inAll: number } = MOST,
): UploadSlots {
  const slots = limits.slots('uploads', most.perUser)
  let inAll = 0
  const bodies = createFairQueue(IN_MEMORY)
  async function run<T>(userId: UserId, work: () => Promise<T>): Promise<T> {
    const retry = { retryable: true, retryAfter: RETRY_SECONDS }
    const release = await slots.acquire(userId)
    if (release === null) throw appError('uploads_exhausted', { limit: most.perUser }, retry)
    try {
      if (inAll >= most.inAll) throw appError('uploads_busy', {}, retry)
      inAll++
      try {
        return await work()
      } finally {
        inAll--
      }
    } finally {
      release()
    }
  }
  return {
    run,
    runInMemory: (userId, work) => run(userId, () => bodies.run(userId, work)),
  }
}
