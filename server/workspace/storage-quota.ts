// How much a user may store in all projects and documents: growth is claimed before it is written, one claim at a time.
import type { StorageRepository } from '../db/repositories/storage.ts'
import { appError } from '../errors.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import { sizeText } from './files/faults.ts'
import { createLanes } from './project-lock.ts'

export interface StorageQuota {
  /**
   * Reserves `bytes` more for `holder` (a project, an upload, a document) until `release`. Throws `quota_exceeded` when
   * the user would exceed the quota, including all other claims.
   */
  claim(userId: UserId, holder: string, bytes: number): Promise<void>
  /** Ends the holder's claims, because its size is stored by now or nothing was written. */
  release(holder: string): void
  /** Bytes that the user may still write; 0 when the quota is reached. */
  left(userId: UserId): Promise<number>
  /**
   * For growth that was not known before and is stored by now: when the user exceeds the quota, `undo` runs before any
   * other claim, and `quota_exceeded` is thrown.
   */
  undoIfOver(userId: UserId, undo: () => Promise<void>): Promise<void>
}

/** For code that works on projects without users and their rows. */
export const noQuota: StorageQuota = {
  claim: async () => {},
  release() {},
  left: async () => Number.POSITIVE_INFINITY,
  undoIfOver: async () => {},
}

/** How long a claim waits for earlier ones, which only query the database. */
const WAIT_MS = 60_000

/**
 * `limit`: bytes per user. `measure` returns the bytes of all files of a project. `settled` resolves when the changes that
 * an earlier process left unfinished in the user's projects are recorded with their size.
 *
 * Claims are in memory: they belong to writes of this process and end with it. What those wrote is counted after the next
 * start, from the rows or once it is settled.
 */
export function createStorageQuota(options: {
  records: StorageRepository
  limit: number
  measure(userId: UserId, projectId: ProjectId): Promise<number>
  settled(userId: UserId): Promise<void>
}): StorageQuota {
  const { records, limit, measure, settled } = options
  const turns = createLanes(WAIT_MS)
  const claims = new Map<string, { userId: UserId; bytes: number }>()

  /** What is stored plus what others have claimed. */
  const used = async (userId: UserId): Promise<number> => {
    await settled(userId)
    for (const projectId of await records.unmeasured(userId))
      await records.measured(projectId, await measure(userId, projectId))
    // Read before the sum: what is released meanwhile counts twice for a moment, never not at all.
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
