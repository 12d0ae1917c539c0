// Idempotency-Keys with the responses that they repeat: sealed, because they may hold secrets that are shown once.
import type { Store } from '../db/store.ts'
import type { RunId, UserId } from '../protocol/ids.ts'
import { openIfReadable, type SecretBox } from './secret-box.ts'

/** The purpose that responses are sealed for. */
export const IDEMPOTENCY_SEAL_PURPOSE = 'idempotency'

type Key = { userId: UserId; key: string }

/** Seals what it stores and opens what it reads. `instance` marks the keys that this process has claimed. */
export function createIdempotencyKeys({
  store: { idempotency },
  box,
  instance,
  now,
}: {
  store: Pick<Store, 'idempotency'>
  /** Must not register what it seals as secrets of the log. */
  box: SecretBox
  instance: string
  now(): Date
}) {
  return {
    /** Takes the key. Resolves to null if it was free, otherwise to the request that took it. */
    async claim({ userId, key }: Key, fingerprint: string) {
      const taken = await idempotency.claim({
        userId,
        key,
        fingerprint,
        state: 'pending',
        status: null,
        sealedBody: null,
        runId: null,
        instance,
        createdAt: now(),
      })
      if (taken === null) return null
      const { sealedBody, ...row } = taken
      return {
        ...row,
        // After the key was replaced, the response counts as one that was not stored: the work is not done twice.
        body:
          sealedBody === null ? null : openIfReadable(box, sealedBody, IDEMPOTENCY_SEAL_PURPOSE),
      }
    },
    finish: (
      key: Key,
      { status, body, fingerprint }: { status: number; body: string | null; fingerprint?: string },
    ): Promise<void> =>
      idempotency.finish(key, {
        status,
        ...(fingerprint === undefined ? {} : { fingerprint }),
        sealedBody: body === null ? null : box.seal(body, IDEMPOTENCY_SEAL_PURPOSE),
      }),
    bindRun: (key: Key, runId: RunId): Promise<void> => idempotency.bindRun(key, runId),
    release: (key: Key): Promise<void> => idempotency.release(key),
  }
}
