// Each user's storage quota for projects, documents and files: writers reserve bytes before they write, one claim at a
// time. Earlier contents of project files count, too, but never prevent a write: they are removed instead, oldest first.
import type { StorageRepository } from '../db/repositories/projects/storage.ts'
import { appError } from '../errors.ts'
import { createFairQueue } from '../lib/fair-queue.ts'
import type { SharedAmounts } from '../lib/limits.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import { sizeText } from './files/faults.ts'
import { createKeyedMutex } from './keyed-mutex.ts'

/** Limits what users may store. Bytes are reserved before they are written. */
export interface StorageQuota {
  /**
   * Reserves `bytes` more for `holder` (a project, an upload, a document) until `release`. Throws `quota_exceeded` if the
   * user would exceed the quota, including all other claims.
   */
  claim(userId: UserId, holder: string, bytes: number): Promise<void>
  /**
   * Begins a claim for texts, of which many come at once: an import or a shared copy. Texts do not count continuously, so
   * this measures them once. @returns reserves `bytes` more for `holder` until `release`; it throws `quota_claim_refused` or
   * `quota_texts_refused` if the user would exceed the quota, the texts of conversations and shared copies included.
   */
  claimTexts(userId: UserId, holder: string): Promise<(bytes: number) => Promise<void>>
  /**
   * Counts a text that is about to be stored, such as a message with its answer. Now and then, this measures all texts.
   * @throws AppError `quota_texts_refused` while the user exceeds the quota with them.
   */
  countText(userId: UserId, bytes: number): Promise<void>
  /** The user's texts, measured now. */
  texts(userId: UserId): Promise<StoredTexts>
  /** Ends the holder's claims. Call it once its size is recorded, or if nothing was written. */
  release(holder: string): void
  /** Bytes that the user may still write; 0 if the quota is reached. */
  left(userId: UserId): Promise<number>
  /**
   * For growth that was not known in advance and is already recorded: if the user exceeds the quota, runs `undo` before any
   * other claim and throws `quota_exceeded`.
   */
  revertIfExceeded(userId: UserId, undo: () => Promise<void>): Promise<void>
  /** Bytes of earlier contents that must be removed, because with them the user exceeds the quota; 0 if none. */
  excess(userId: UserId): Promise<number>
  /** Calls `listener` when a claim leaves less room than the earlier contents use. It must not throw. */
  onExcess(listener: (userId: UserId) => void): void
}

type StoredTexts = Awaited<ReturnType<StorageRepository['texts']>>

const bytesOf = ({ conversations, shares }: StoredTexts): number =>
  conversations.bytes + shares.bytes

/** For code that works on projects without users and database rows. */
export const unlimitedStorage: StorageQuota = {
  claim: async () => {},
  claimTexts: async () => async () => {},
  countText: async () => {},
  texts: async () => ({ conversations: { count: 0, bytes: 0 }, shares: { count: 0, bytes: 0 } }),
  release() {},
  left: async () => Number.POSITIVE_INFINITY,
  revertIfExceeded: async () => {},
  excess: async () => 0,
  onExcess() {},
}

/**
 * Texts that come one by one are measured after this many bytes of them, or this part of the limit. Each also counts for the
 * answer and its steps, which are not known yet.
 */
const MEASURED_EVERY_BYTES = 16 * 1024 * 1024
const MEASURED_EVERY_PART = 1 / 8
const ANSWER_BYTES = 64 * 1024
/** Room for texts that come one by one, whatever the limit: an administrator who forbids files does not forbid to chat. */
const LEAST_TEXT_BYTES = 16 * 1024 * 1024

/** Of all users. SQLite measures on the event loop, in short turns. */
const MAX_MEASUREMENTS = 2

/** How long a claim waits for earlier ones, which only query the database. */
const CLAIM_WAIT_MS = 60_000

/**
 * `limit` returns the bytes that a user may store. `measure` returns the bytes of all files of a project. `recovered`
 * resolves when the changes that an earlier process left open in the user's projects are recorded with their size.
 * Claims are in memory: they belong to writes of this process and end with it. After a restart, what those writes stored is
 * counted from its rows, or once it is recovered. Of other instances, only the sum of their claims is known.
 */
export function createStorageQuota(options: {
  records: StorageRepository
  limit(userId: UserId): number
  measure(userId: UserId, projectId: ProjectId): Promise<number>
  recovered(userId: UserId): Promise<void>
  /** The claims of each user at all instances, in bytes. */
  claimed: SharedAmounts
}): StorageQuota {
  const { records, measure, recovered } = options
  const mutex = createKeyedMutex(CLAIM_WAIT_MS)
  const listeners: ((userId: UserId) => void)[] = []
  const claims = new Map<string, { userId: UserId; bytes: number }>()
  /** Holders of claims for texts, with the bytes of texts that others have stored. */
  const holdersOfTexts = new Map<string, { userId: UserId; stored: number }>()
  /** Bytes of texts that came one by one since all texts were measured. */
  const noted = new Map<UserId, number>()
  /** One measurement of a user at a time, because each reads all of the user's texts. */
  const measurements = createFairQueue({ size: MAX_MEASUREMENTS, perOwner: 1 })
  const measuring = new Map<UserId, Promise<StoredTexts>>()
  /**
   * Claims that are being checked and that other instances already count. Of two simultaneous claims, the later one is
   * refused.
   */
  const pending = new Map<UserId, number>()

  /** Bytes that this instance has claimed. */
  function own(userId: UserId): number {
    let bytes = pending.get(userId) ?? 0
    for (const claim of claims.values()) if (claim.userId === userId) bytes += claim.bytes
    return bytes
  }

  /** Stored plus claimed bytes, at all instances. */
  const used = async (userId: UserId): Promise<number> => {
    await recovered(userId)
    for (const projectId of await records.unmeasured(userId))
      await records.setMeasured(projectId, await measure(userId, projectId))
    // Read before the stored sum: a claim released in between counts twice for a moment, but is never missed.
    const claimed = own(userId)
    const elsewhere = await options.claimed.hold(userId, claimed)
    return claimed + elsewhere + (await records.used(userId))
  }
  /** Publishes the claims to the other instances. Not awaited: until they receive it, they count too much. */
  const publish = (userId: UserId): void => void options.claimed.hold(userId, own(userId))
  const amounts = (usedBytes: number, limit: number) => ({
    limit: sizeText(limit),
    used: sizeText(Math.min(usedBytes, limit)),
  })
  const details = (usedBytes: number, limit: number) => ({ details: { limit, used: usedBytes } })

  const measureTexts = (userId: UserId): Promise<StoredTexts> =>
    measurements.run(userId, () => records.texts(userId))
  /** Of several callers at once, the first one measures for all. */
  function texts(userId: UserId): Promise<StoredTexts> {
    const measured =
      measuring.get(userId) ?? measureTexts(userId).finally(() => measuring.delete(userId))
    measuring.set(userId, measured)
    return measured
  }

  /** `inTexts` are the bytes of stored texts that count, too. */
  const claim = (userId: UserId, holder: string, bytes: number, inTexts: number): Promise<void> =>
    mutex.run(userId, async () => {
      pending.set(userId, bytes)
      try {
        const wanted = inTexts + (await used(userId))
        const limit = options.limit(userId)
        if (wanted > limit)
          throw appError(
            inTexts === 0 ? 'quota_claim_refused' : 'quota_texts_refused',
            { more: sizeText(bytes), ...amounts(wanted - bytes, limit) },
            details(wanted - bytes, limit),
          )
        const held = claims.get(holder)?.bytes ?? 0
        claims.set(holder, { userId, bytes: held + bytes })
        pending.delete(userId)
        if (wanted + (await records.history(userId)) > limit)
          for (const listener of listeners) listener(userId)
      } finally {
        if (pending.delete(userId)) publish(userId)
      }
    })

  return {
    claim: (userId, holder, bytes) => claim(userId, holder, bytes, 0),
    async claimTexts(userId, holder) {
      const held = { userId, stored: 0 }
      holdersOfTexts.set(holder, held)
      try {
        // Not what another caller began to measure before this holder was known.
        held.stored += bytesOf(await measureTexts(userId))
      } catch (error) {
        holdersOfTexts.delete(holder)
        throw error
      }
      return (bytes) => claim(userId, holder, bytes, held.stored)
    },
    texts,
    async countText(userId, given) {
      const bytes = given + ANSWER_BYTES
      const since = (noted.get(userId) ?? 0) + bytes
      noted.set(userId, since)
      const limit = Math.max(options.limit(userId), LEAST_TEXT_BYTES)
      if (since < Math.min(MEASURED_EVERY_BYTES, limit * MEASURED_EVERY_PART)) return
      const stored = bytesOf(await texts(userId))
      const usedBytes = stored + (await mutex.run(userId, () => used(userId)))
      // Otherwise the next text is measured again, because the user may have deleted something.
      if (usedBytes + bytes <= limit) noted.set(userId, 0)
      else
        throw appError(
          'quota_texts_refused',
          { more: sizeText(bytes), ...amounts(usedBytes, limit) },
          details(usedBytes, limit),
        )
    },
    release(holder) {
      const claim = claims.get(holder)
      claims.delete(holder)
      if (claim === undefined) {
        holdersOfTexts.delete(holder)
        return
      }
      // Those who have measured already do not see what this holder has stored.
      if (holdersOfTexts.delete(holder))
        for (const other of holdersOfTexts.values())
          if (other.userId === claim.userId) other.stored += claim.bytes
      publish(claim.userId)
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
