// How much a user may store over all projects and documents: growth is claimed before it is written, one claim at a time.
import type { StorageRepository } from '../db/repositories/storage.ts'
import { appError } from '../errors.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import { sizeText } from './files/faults.ts'
import { createLanes } from './project-lock.ts'

export interface StorageQuota {
  /**
   * Sets `bytes` more aside for `holder` (a project, an upload, a document) until `release`: the holder may write them.
   * Throws `quota_exceeded` when the user would have more than the quota with all that others have claimed.
   */
  claim(userId: UserId, holder: string, bytes: number): Promise<void>
  /** Gives back what the holder has claimed, because its size is stored by now or nothing was written. */
  release(holder: string): void
  /** Bytes that the user may still write; 0 when the quota is reached. */
  left(userId: UserId): Promise<number>
  /**
   * For growth that nobody could know before, and whose size is stored by now: when the user has more than the quota,
   * `undo` runs before anybody else is judged, and `quota_exceeded` is thrown.
   */
  undoIfOver(userId: UserId, undo: () => Promise<void>): Promise<void>
}

/** For whoever works on projects without users and their rows. */
export const noQuota: StorageQuota = {
  claim: async () => {},
  release() {},
  left: async () => Number.POSITIVE_INFINITY,
  undoIfOver: async () => {},
}

/** How long a claim waits for the ones before it, which only ask the database. */
const WAIT_MS = 60_000

/** `limit`: bytes of each user. `measure` tells the bytes of all files of a project. */
export function createStorageQuota(options: {
  records: StorageRepository
  limit: number
  measure(userId: UserId, projectId: ProjectId): Promise<number>
}): StorageQuota {
  const { records, limit, measure } = options
  const turns = createLanes(WAIT_MS)
  const claims = new Map<string, { userId: UserId; bytes: number }>()

  /** What is stored, and what others were allowed to store. */
  const used = async (userId: UserId): Promise<number> => {
    for (const projectId of await records.unmeasured(userId))
      await records.measured(projectId, await measure(userId, projectId))
    // Counted before the sum: what is released meanwhile counts twice for a moment, never not at all.
    let claimed = 0
    for (const claim of claims.values()) if (claim.userId === userId) claimed += claim.bytes
    return claimed + (await records.used(userId))
  }
  const amounts = (taken: number) => ({
    limit: sizeText(limit),
    used: sizeText(Math.min(taken, limit)),
  })
  const details = (taken: number) => ({ details: { limit, used: taken } })

  return {
    claim: (userId, holder, bytes) =>
      turns.run(userId, async () => {
        const taken = await used(userId)
        if (taken + bytes > limit)
          throw appError(
            'quota_claim_refused',
            { more: sizeText(bytes), ...amounts(taken) },
            details(taken),
          )
        const held = claims.get(holder)?.bytes ?? 0
        claims.set(holder, { userId, bytes: held + bytes })
      }),
    release(holder) {
      claims.delete(holder)
    },
    left: (userId) => turns.run(userId, async () => Math.max(0, limit - (await used(userId)))),
    undoIfOver: (userId, undo) =>
      turns.run(userId, async () => {
        const taken = await used(userId)
        if (taken <= limit) return
        await undo()
        throw appError('quota_exceeded', amounts(taken), details(taken))
      }),
  }
}
