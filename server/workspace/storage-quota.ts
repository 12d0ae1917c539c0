// Each user's storage quota for projects, documents and files: writers reserve bytes before they write, one claim at a time.
// Earlier contents of project files count too, but they refuse no write: they give way, the oldest first.
import type { StorageRepository } from '../db/repositories/projects/storage.ts'
import { appError } from '../errors.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import { sizeText } from './files/faults.ts'
import { createKeyedMutex } from './keyed-mutex.ts'

export interface StorageQuota {
  /**
   * Reserves `bytes` more for `holder` (a project, an upload, a document) until `release`. Throws `quota_exceeded` when
   * the user would exceed the quota, including all other claims.
   */
  claim(userId: UserId, holder: string, bytes: number): Promise<void>
  /** Ends the holder's claims: its size is recorded by now, or nothing was written. */
  release(holder: string): void
  /** Bytes that the user may still write; 0 when the quota is reached. */
  left(userId: UserId): Promise<number>
  /**
   * For growth that was not known in advance and is recorded by now: if the user exceeds the quota, runs `undo` before any
   * other claim and throws `quota_exceeded`.
   */
  revertIfExceeded(userId: UserId, undo: () => Promise<void>): Promise<void>
  /** Bytes of earlier contents that have to give way, because with them everything exceeds the quota; 0 if none. */
  excess(userId: UserId): Promise<number>
  /** Calls `listener` when a claim leaves less room than earlier contents take. It must not throw. */
  onExcess(listener: (userId: UserId) => void): void
}

/** For code that works on projects without users and database rows. */
export const unlimitedStorage: StorageQuota = {
  claim: async () => {},
  release() {},
  left: async () => Number.POSITIVE_INFINITY,
  revertIfExceeded: async () => {},
  excess: async () => 0,
  onExcess() {},
}

/** How long a claim waits for earlier ones, which only query the database. */
const CLAIM_WAIT_MS = 60_000

/**
 * `limit` returns the bytes that a user may store. `measure` returns the bytes of all files of a project. `recovered` resolves when the changes that
 * an earlier process left open in the user's projects are recorded with their size.
 *
 * Claims are kept in memory: they belong to writes of this process and end with it. After a restart, what those wrote is
 * counted from the rows or once it is recovered.
 */
export function createStorageQuota(options: {
  records: StorageRepository
  limit(userId: UserId): number
  measure(userId: UserId, projectId: ProjectId): Promise<number>
  recovered(userId: UserId): Promise<void>
}): StorageQuota {
  const { records, measure, recovered } = options
  const mutex = createKeyedMutex(CLAIM_WAIT_MS)
  const listeners: ((userId: UserId) => void)[] = []
  const claims = new Map<string, { userId: UserId; bytes: number }>()

  /** Stored plus claimed bytes. */
  const used = async (userId: UserId): Promise<number> => {
    await recovered(userId)
    for (const projectId of await records.unmeasured(userId))
      await records.setMeasured(projectId, await measure(userId, projectId))
    // Read before the stored sum: a claim released in between counts twice for a moment, but is never missed.
    let claimed = 0
    for (const claim of claims.values()) if (claim.userId === userId) claimed += claim.bytes
    return claimed + (await records.used(userId))
  }
  const amounts = (usedBytes: number, limit: number) => ({
    limit: sizeText(limit),
    used: sizeText(Math.min(usedBytes, limit)),
  })
  const details = (usedBytes: number, limit: number) => ({ details: { limit, used: usedBytes } })

  return {
    claim: (userId, holder, bytes) =>
      mutex.run(userId, async () => {
        const usedBytes = await used(userId)
        const limit = options.limit(userId)
        if (usedBytes + bytes > limit)
          throw appError(
            'quota_claim_refused',
            { more: sizeText(bytes), ...amounts(usedBytes, limit) },
            details(usedBytes, limit),
          )
        const held = claims.get(holder)?.bytes ?? 0
        claims.set(holder, { userId, bytes: held + bytes })
        if (usedBytes + bytes + (await records.history(userId)) > limit)
          for (const listener of listeners) listener(userId)
      }),
    release(holder) {
      claims.delete(holder)
    },
    left: (userId) =>
      mutex.run(userId, async () => Math.max(0, options.limit(userId) - (await used(userId)))),
    revertIfExceeded: (userId, undo) =>
      mutex.run(userId, async () => {
        const usedBytes = await used(userId)
        const limit = options.limit(userId)
        if (usedBytes <= limit) return
        await undo()
        throw appError('quota_exceeded', amounts(usedBytes, limit), details(usedBytes, limit))
      }),
    excess: (userId) =>
      mutex.run(userId, async () => {
        const history = await records.history(userId)
        const over = history + (await used(userId)) - options.limit(userId)
        return Math.min(history, Math.max(0, over))
      }),
    onExcess(listener) {
      listeners.push(listener)
    },
  }
}
