// Requests to the hooks of schedules: who may send them, which are repeated, and the occurrence that each makes.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { SecretBox } from '../auth/secret-box.ts'
import type { Database } from '../db/database.ts'
import type { Store } from '../db/store.ts'
import { AppError, appError } from '../errors.ts'
import { attachable } from '../lib/attachable-text.ts'
import type { Limits } from '../lib/limits.ts'
import { hashLinkToken } from '../lib/link-token.ts'
import type { OccurrenceId } from '../protocol/schedules/schedule.ts'
import {
  addOccurrence,
  endedAsStored,
  hookSealPurpose,
  newOccurrence,
  type ScheduleDependencies,
  type Schedules,
} from './schedules.ts'

const REQUESTS_PER_MINUTE = 60
const MINUTE_MS = 60_000
/** How far the time of a signed request may lie from now, both ways. */
const MAX_SKEW_MS = 5 * MINUTE_MS
/** How long a repeated request is known. */
const KEY_DAYS_MS = 24 * 60 * MINUTE_MS
const SECRET_PREFIX = 'whsec_'

/** A request to a hook. */
export interface HookRequest {
  token: string
  body: Buffer
  contentType: string
  /** By which a repeated request is known; null if it has none. */
  key: string | null
  /** The same of the id that a signature covers. */
  signedKey: string | null
  signature: { id: string; timestamp: string; signatures: string }
}

/** Receives requests to hooks. */
export interface Hooks {
  /** @throws AppError `hook_unknown`, `hook_busy`, `hook_signature_invalid`. */
  receive(request: HookRequest): Promise<OccurrenceId>
}

/** Create one per server. */
export function createHooks({
  database,
  store,
  box,
  schedules,
  webhooks,
  limits,
  now,
}: Pick<ScheduleDependencies, 'webhooks'> & {
  database: Database
  store: Store
  box: Pick<SecretBox, 'open'>
  schedules: Schedules
  limits: Limits
  now(): Date
}): Hooks {
  const allowance = limits.rateLimit('requests to hooks', {
    limit: REQUESTS_PER_MINUTE,
    windowMs: MINUTE_MS,
  })
  return {
    async receive({ token, body, contentType, key: givenKey, signedKey, signature }) {
      const schedule = await store.schedules.findByHook(hashLinkToken(token))
      if (schedule === undefined || !schedule.enabled) throw appError('hook_unknown')
      const found = await store.schedules.get(schedule.id)
      if (found?.isActive !== true || !mayHave(schedule.userId, schedules))
        throw appError('hook_unknown')
      const retryAfter = await allowance.acquire(schedule.id)
      if (retryAfter !== null) throw appError('hook_busy', {}, { retryAfter })
      const at = now()
      if (schedule.sealedHookSecret !== null) {
        const secret = box.open(schedule.sealedHookSecret, hookSealPurpose(schedule.id))
        if (!isSigned(body, signature, secret, at)) throw appError('hook_signature_invalid')
      }
      // Another header could make one signed request into many.
      const key = schedule.sealedHookSecret === null ? givenKey : signedKey
      const requestKey = key === null ? null : `${key} ${Math.floor(at.getTime() / KEY_DAYS_MS)}`
      const earlier = key === null ? null : `${key} ${Math.floor(at.getTime() / KEY_DAYS_MS) - 1}`
      const stored = await database.write(async (tx) => {
        for (const one of [requestKey, earlier]) {
          const known =
            one === null ? undefined : await store.occurrences.findByRequest(tx, schedule.id, one)
          if (known !== undefined && at.getTime() - known.createdAt.getTime() < KEY_DAYS_MS)
            return known
        }
        const occurrence = {
          ...newOccurrence(schedule.id, { dueAt: at, trigger: 'hook', at }),
          requestKey,
          input: inputOf(body, contentType),
        }
        const added = await addOccurrence(tx, occurrence, { store })
        if (added !== null) {
          await endedAsStored(tx, schedule.userId, [added], { webhooks })
          return added
        }
        // The same request arrived at another instance in the same moment.
        const known =
          requestKey === null
            ? undefined
            : await store.occurrences.findByRequest(tx, schedule.id, requestKey)
        if (known === undefined) throw appError('hook_unknown')
        return known
      })
      if (stored.state === 'skipped') webhooks.afterCommit(schedule.userId)
      if (stored.endedAt === null && stored.runId === null)
        schedules.started(stored, schedule.userId)
      return stored.id
    },
  }
}

function mayHave(userId: Parameters<Schedules['assertAllowed']>[0], schedules: Schedules): boolean {
  try {
    schedules.assertAllowed(userId)
    return true
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

/** What the model is given; null for an empty body. */
function inputOf(body: Buffer, contentType: string): { name: string; content: string } | null {
  if (body.length === 0) return null
  const text = attachable(body.toString('utf8'))
  const type = contentType.replace(/[^\x20-\x7e]/g, '').slice(0, 200)
  return { name: 'request.txt', content: type === '' ? text : `Content-Type: ${type}\n\n${text}` }
}

/** Whether one of the signatures is valid and its time is near. */
function isSigned(
  body: Buffer,
  { id, timestamp, signatures }: HookRequest['signature'],
  secret: string,
  at: Date,
): boolean {
  if (id === '' || !/^\d{1,12}$/.test(timestamp)) return false
  if (Math.abs(at.getTime() - Number(timestamp) * 1_000) > MAX_SKEW_MS) return false
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
  return signatures
    .split(' ')
    .slice(0, 20)
    .some((signature) => {
      const given = Buffer.from(signature.startsWith('v1,') ? signature.slice(3) : '', 'base64')
      return given.length === expected.length && timingSafeEqual(given, expected)
    })
}
