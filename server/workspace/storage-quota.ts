// Each user's storage quota for projects, documents and files: writers reserve bytes before they write, one claim at a
// time. Earlier contents of project files count, too, but never prevent a write: they are removed instead, oldest first.
import {
  ROW_BYTES,
  type StorageRepository,
  type StoredKind,
} from '../db/repositories/projects/storage.ts'
import { appError } from '../errors.ts'
import { createFairQueue } from '../lib/fair-queue.ts'
import type { SharedAmounts } from '../lib/limits.ts'
import { NO_OTHERS } from '../lib/local-limits.ts'
import { sizeText } from '../lib/size-text.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
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
   * Counts a text that is about to be stored, such as a message. Now and then, this measures all texts.
   * @throws AppError `quota_texts_refused` while the user exceeds the quota with them.
   */
  countText(userId: UserId, bytes: number): Promise<void>
  /** Counts a text that has been stored, such as an answer. */
  noteText(userId: UserId, bytes: number): void
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
  noteText() {},
  texts: async () => ({ conversations: { count: 0, bytes: 0 }, shares: { count: 0, bytes: 0 } }),
  release() {},
  left: async () => Number.POSITIVE_INFINITY,
  revertIfExceeded: async () => {},
  excess: async () => 0,
  onExcess() {},
}

/**
 * Texts that come one by one are measured after this many bytes of them, or this part of the limit; but not before they fill this
 * part of the room that the last measurement has found, because each measurement reads all of the user's texts.
 */
const MEASURED_EVERY_BYTES = 16 * 1024 * 1024
const MEASURED_EVERY_PART = 1 / 8
const MEASURED_EVERY_PART_OF_ROOM = 1 / 4
/** Other instances store texts in the same room, and each knows only its own. */
const MEASURED_EVERY_PART_OF_SHARED_ROOM = 1 / 32
/** Room for texts that come one by one, whatever the limit: an administrator who forbids files does not forbid to chat. */
const LEAST_TEXT_BYTES = 16 * 1024 * 1024

/** Of all users. SQLite measures on the event loop, in short turns. */
const MAX_MEASUREMENTS = 2

/** Longer than the import of another instance takes, which measures the texts once. */
const TEXTS_KNOWN_MS = 60 * 60_000

/** How long a claim waits for earlier ones, which only query the database. */
const CLAIM_WAIT_MS = 60_000

/** What a quota is measured with. */
interface QuotaOptions {
  records: StorageRepository
  limit(userId: UserId): number
  measure(userId: UserId, projectId: ProjectId): Promise<number>
  recovered(userId: UserId): Promise<void>
  /** The claims of each user at all instances, in bytes. */
  claimed: SharedAmounts
  /** What each instance has lately stored of each user's texts, in bytes: others have measured before. */
  storedTexts: SharedAmounts
}

interface NotedTexts {
  /** Bytes that the user stored when all texts were last measured; null before that. */
  used: number | null
  /** Bytes of texts that have come since then. */
  since: number
}

/** What this instance knows of the storage of its users. */
interface QuotaState extends QuotaOptions {
  readonly mutex: ReturnType<typeof createKeyedMutex>
  readonly listeners: ((userId: UserId) => void)[]
  readonly claims: Map<string, { userId: UserId; bytes: number }>
  /**
   * Holders of claims for texts, with the bytes of texts that others have stored, and what other instances said to have
   * stored when these were measured.
   */
  readonly holdersOfTexts: Map<string, { userId: UserId; stored: number; elsewhere: number }>
  /** Texts that this instance has stored, for the other instances. */
  readonly storedHere: Map<UserId, { bytes: number; forget: NodeJS.Timeout }>
  /** Texts that came one by one. */
  readonly noted: Map<UserId, NotedTexts>
  /** One measurement of a user at a time, because each reads all of the user's texts. */
  readonly measurements: ReturnType<typeof createFairQueue>
  readonly measuring: Map<UserId, Promise<Record<'conversations' | 'shares', StoredKind>>>
  /**
   * Claims that are being checked and that other instances already count. Of two simultaneous claims, the later one is
   * refused.
   */
  readonly pending: Map<UserId, number>
}

/**
 * `limit` returns the bytes that a user may store. `measure` returns the bytes of all files of a project. `recovered`
 * resolves when the changes that an earlier process left open in the user's projects are recorded with their size.
 * Claims are in memory: they belong to writes of this process and end with it. After a restart, what those writes stored is
 * counted from its rows, or once it is recovered. Of other instances, only the sum of their claims is known.
 */
export function createStorageQuota(options: QuotaOptions): StorageQuota {
  const quota: QuotaState = {
    ...options,
    mutex: createKeyedMutex(CLAIM_WAIT_MS),
    listeners: [],
    claims: new Map<string, { userId: UserId; bytes: number }>(),
    holdersOfTexts: new Map<string, { userId: UserId; stored: number; elsewhere: number }>(),
    storedHere: new Map<UserId, { bytes: number; forget: NodeJS.Timeout }>(),
    noted: new Map<UserId, NotedTexts>(),
    measurements: createFairQueue({ size: MAX_MEASUREMENTS, perOwner: 1 }),
    measuring: new Map<UserId, Promise<StoredTexts>>(),
    pending: new Map<UserId, number>(),
  }
  return {
    claim: (userId, holder, bytes) => claim(quota, userId, holder, bytes, null),
    claimTexts: (userId, holder) => claimTexts(quota, userId, holder),
    texts: (userId) => texts(quota, userId),
    countText: (userId, bytes) => countText(quota, userId, bytes),
    noteText: (userId, bytes) => void noteText(quota, userId, bytes),
    release: (holder) => release(quota, holder),
    left: (userId) =>
      quota.mutex.run(userId, async () =>
        Math.max(0, quota.limit(userId) - (await used(quota, userId))),
      ),
    revertIfExceeded: (userId, undo) => revertIfExceeded(quota, userId, undo),
    excess: (userId) =>
      quota.mutex.run(userId, async () => {
        const history = await quota.records.history(userId)
        const over = history + (await used(quota, userId)) - quota.limit(userId)
        return Math.min(history, Math.max(0, over))
      }),
    onExcess(listener) {
      quota.listeners.push(listener)
    },
  }
}

/** Bytes that this instance has claimed. */
function own(quota: QuotaState, userId: UserId): number {
  let bytes = quota.pending.get(userId) ?? 0
  for (const claim of quota.claims.values()) if (claim.userId === userId) bytes += claim.bytes
  return bytes
}

/** Stored plus claimed bytes, at all instances. */
async function used(quota: QuotaState, userId: UserId): Promise<number> {
  await quota.recovered(userId)
  for (const projectId of await quota.records.unmeasured(userId))
    await quota.records.setMeasured(projectId, await quota.measure(userId, projectId))
  // Read before the stored sum: a claim released in between counts twice for a moment, but is never missed.
  const claimed = own(quota, userId)
  const elsewhere = await quota.claimed.hold(userId, claimed)
  return claimed + elsewhere + (await quota.records.used(userId))
}

/** Publishes the claims to the other instances. Not awaited: until they receive it, they count too much. */
const publish = (quota: QuotaState, userId: UserId): void =>
  void quota.claimed.hold(userId, own(quota, userId))

const amounts = (usedBytes: number, limit: number): { limit: string; used: string } => ({
  limit: sizeText(limit),
  used: sizeText(Math.min(usedBytes, limit)),
})

const details = (
  usedBytes: number,
  limit: number,
): { details: { limit: number; used: number } } => ({ details: { limit, used: usedBytes } })

const measureTexts = (quota: QuotaState, userId: UserId): Promise<StoredTexts> =>
  quota.measurements.run(userId, () => quota.records.texts(userId))

/** Of several callers at once, the first one measures for all. */
function texts(quota: QuotaState, userId: UserId): Promise<StoredTexts> {
  const measured =
    quota.measuring.get(userId) ??
    measureTexts(quota, userId).finally(() => quota.measuring.delete(userId))
  quota.measuring.set(userId, measured)
  return measured
}

const textsStoredElsewhere = (quota: QuotaState, userId: UserId): Promise<number> =>
  quota.storedTexts.hold(userId, quota.storedHere.get(userId)?.bytes ?? 0)

/** Says so to the other instances before they learn that the claim is released: it counts twice for a moment. */
async function publishTexts(quota: QuotaState, userId: UserId, bytes: number): Promise<void> {
  const before = quota.storedHere.get(userId)
  clearTimeout(before?.forget)
  const forget = setTimeout(() => {
    quota.storedHere.delete(userId)
    void textsStoredElsewhere(quota, userId)
  }, TEXTS_KNOWN_MS).unref()
  quota.storedHere.set(userId, { bytes: (before?.bytes ?? 0) + bytes, forget })
  await textsStoredElsewhere(quota, userId)
  publish(quota, userId)
}

/** @param inTexts the bytes of stored texts that count, too; null if texts do not count. */
const claim = (
  quota: QuotaState,
  userId: UserId,
  holder: string,
  bytes: number,
  inTexts: (() => Promise<number>) | null,
): Promise<void> =>
  quota.mutex.run(userId, async () => {
    quota.pending.set(userId, bytes)
    try {
      const inFiles = await used(quota, userId)
      const wanted = inFiles + ((await inTexts?.()) ?? 0)
      const limit = quota.limit(userId)
      if (wanted > limit)
        throw appError(
          inTexts === null ? 'quota_claim_refused' : 'quota_texts_refused',
          { more: sizeText(bytes), ...amounts(wanted - bytes, limit) },
          details(wanted - bytes, limit),
        )
      const held = quota.claims.get(holder)?.bytes ?? 0
      quota.claims.set(holder, { userId, bytes: held + bytes })
      // What is about to be written is no room for texts.
      const noted = quota.noted.get(userId)
      if (noted !== undefined && noted.used !== null) noted.used += bytes
      quota.pending.delete(userId)
      if (wanted + (await quota.records.history(userId)) > limit)
        for (const listener of quota.listeners) listener(userId)
    } finally {
      // Awaited: who is refused and asks at once what is left must not count in it.
      if (quota.pending.delete(userId)) await quota.claimed.hold(userId, own(quota, userId))
    }
  })

async function claimTexts(
  quota: QuotaState,
  userId: UserId,
  holder: string,
): Promise<(bytes: number) => Promise<void>> {
  const held = { userId, stored: 0, elsewhere: 0 }
  quota.holdersOfTexts.set(holder, held)
  try {
    held.elsewhere = await textsStoredElsewhere(quota, userId)
    // Not what another caller began to measure before this holder was known.
    held.stored += bytesOf(await measureTexts(quota, userId))
  } catch (error) {
    quota.holdersOfTexts.delete(holder)
    throw error
  }
  return (bytes) =>
    claim(quota, userId, holder, bytes, async () => {
      // Asked for after the claims: what another instance has released since counts here.
      const since = (await textsStoredElsewhere(quota, userId)) - held.elsewhere
      return held.stored + Math.max(0, since)
    })
}

/** @returns what has been noted since the last measurement, with this text. */
function noteText(quota: QuotaState, userId: UserId, bytes: number): NotedTexts {
  const before = quota.noted.get(userId)
  const noted = { used: before?.used ?? null, since: (before?.since ?? 0) + bytes + ROW_BYTES }
  quota.noted.set(userId, noted)
  return noted
}

async function countText(quota: QuotaState, userId: UserId, bytes: number): Promise<void> {
  const noted = noteText(quota, userId, bytes)
  const limit = Math.max(quota.limit(userId), LEAST_TEXT_BYTES)
  const least = Math.min(MEASURED_EVERY_BYTES, limit * MEASURED_EVERY_PART)
  const room = noted.used === null ? 0 : limit - noted.used
  const part =
    quota.claimed === NO_OTHERS ? MEASURED_EVERY_PART_OF_ROOM : MEASURED_EVERY_PART_OF_SHARED_ROOM
  if (noted.since < Math.max(least, room * part)) return
  const stored = bytesOf(await texts(quota, userId))
  const usedBytes = stored + (await quota.mutex.run(userId, () => used(quota, userId)))
  // Otherwise the next text is measured again, because the user may have deleted something.
  if (usedBytes + bytes <= limit) quota.noted.set(userId, { used: usedBytes, since: 0 })
  else
    throw appError(
      'quota_texts_refused',
      { more: sizeText(bytes), ...amounts(usedBytes, limit) },
      details(usedBytes, limit),
    )
}

function release(quota: QuotaState, holder: string): void {
  const claim = quota.claims.get(holder)
  quota.claims.delete(holder)
  if (claim === undefined) {
    quota.holdersOfTexts.delete(holder)
    return
  }
  if (!quota.holdersOfTexts.delete(holder)) {
    publish(quota, claim.userId)
    return
  }
  // Those who have measured already do not see what this holder has stored.
  for (const other of quota.holdersOfTexts.values())
    if (other.userId === claim.userId) other.stored += claim.bytes
  void publishTexts(quota, claim.userId, claim.bytes)
}

const revertIfExceeded = (
  quota: QuotaState,
  userId: UserId,
  undo: () => Promise<void>,
): Promise<void> =>
  quota.mutex.run(userId, async () => {
    const usedBytes = await used(quota, userId)
    const limit = quota.limit(userId)
    if (usedBytes <= limit) return
    await undo()
    throw appError('quota_exceeded', amounts(usedBytes, limit), details(usedBytes, limit))
  })
