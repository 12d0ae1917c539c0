// Stores Idempotency-Keys; the responses are sealed, because they may hold secrets that are shown once.
import type { SecretBox } from '../../auth/secret-box.ts'
import type { Store } from '../../db/store.ts'
import type { IdempotencyKeys } from '../../http/idempotency.ts'

export const IDEMPOTENCY_SEAL_PURPOSE = 'idempotency'

/** `instance` marks the keys that this process has claimed. */
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
}): IdempotencyKeys {
  return {
    async claim({ userId, key }, fingerprint) {
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
        body: sealedBody === null ? null : box.open(sealedBody, IDEMPOTENCY_SEAL_PURPOSE),
      }
    },
    finish: (key, { status, body, fingerprint }) =>
      idempotency.finish(key, {
        status,
        ...(fingerprint === undefined ? {} : { fingerprint }),
        sealedBody: body === null ? null : box.seal(body, IDEMPOTENCY_SEAL_PURPOSE),
      }),
    bindRun: idempotency.bindRun,
    release: idempotency.release,
  }
}
