// Webhooks of users: create, change, remove and test them, and send them events.
import { randomBytes } from 'node:crypto'
import type { SecretBox } from '../auth/secret-box.ts'
import type { Writer } from '../db/database.ts'
import type { AuditRepository } from '../db/repositories/accounts/audit.ts'
import type {
  WebhookDeliveryRow,
  WebhookRepository,
  WebhookRow,
} from '../db/repositories/deliveries/webhooks.ts'
import { appError } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import type { Limits } from '../lib/limits.ts'
import type { GuardedFetch } from '../net/guarded-fetch.ts'
import {
  type Actor,
  type AuditAction,
  type AuditDetails,
  auditedFields,
} from '../protocol/admin/audit.ts'
import type { UserId } from '../protocol/ids.ts'
import type {
  CreatedWebhook,
  Webhook,
  WebhookDelivery,
  WebhookEventType,
} from '../protocol/programs/webhook.ts'
import { createOutbox } from './outbox.ts'
import { postJson } from './post.ts'
import { SECRET_PREFIX, webhookHeaders } from './webhook-signature.ts'
import { createWebhookEvents, newDelivery, type WebhookEvents } from './webhooks/webhook-events.ts'

// Signatures of webhooks as specified by https://www.standardwebhooks.com, so that receivers can verify them with a
// library.

const SECRET_BYTES = 32

/** A new secret, in the form in which receivers are configured with it. */
const newWebhookSecret = (): string => SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')

const MAX_WEBHOOKS = 20
const SHOWN_DELIVERIES = 50
/** Each test is an outgoing request that nothing else has caused. */
const TESTS_PER_HOUR = 60
/** How long a test waits for the outcome of the first attempt. */
const TEST_TIMEOUT_MS = 5_000
/** Slightly more than a day in total, so that a receiver may be down for a night. */
const RETRY_PAUSES_SECONDS = [5, 60, 300, 1_800, 7_200, 18_000, 36_000, 50_400]
const GONE = 410
const HOUR_MS = 3_600_000

/** Binds a sealed secret to its webhook. */
export const webhookSealPurpose = (id: string): string => `webhook ${id}`

/** Records the events that webhooks subscribe to, and sends them. Each change of a webhook leaves its audit entry. */
export interface Webhooks {
  /** Records what webhooks receive. */
  readonly events: WebhookEvents
  list(userId: UserId): Promise<Webhook[]>
  /** The secret cannot be retrieved later. @throws AppError `webhooks_exhausted`. */
  create(
    userId: UserId,
    webhook: { url: string; events: WebhookEventType[] },
    actor: Actor,
  ): Promise<CreatedWebhook>
  /** @throws AppError `webhook_not_found`. */
  change(
    userId: UserId,
    id: string,
    changes: {
      url?: string | undefined
      events?: WebhookEventType[] | undefined
      is_active?: boolean | undefined
    },
    actor: Actor,
  ): Promise<Webhook>
  /**
   * Replaces the secret. For `overlapHours`, requests are signed with both, so that no event is lost while the receiver is
   * being reconfigured. A secret from a still earlier replacement is no longer used.
   * @throws AppError `webhook_not_found`.
   */
  replaceSecret(
    userId: UserId,
    id: string,
    overlapHours: number,
    actor: Actor,
  ): Promise<CreatedWebhook>
  /** @throws AppError `webhook_not_found`. */
  remove(userId: UserId, id: string, actor: Actor): Promise<void>
  /** Sends `webhook.test`, and waits a few seconds for the outcome. @throws AppError `webhook_not_found`, `webhook_tests_exhausted`. */
  test(userId: UserId, id: string): Promise<WebhookDelivery>
  /** The newest deliveries. @throws AppError `webhook_not_found`. */
  deliveries(userId: UserId, id: string): Promise<WebhookDelivery[]>
  /** Reads again which users have webhooks, because other instances may have changed that. */
  reload(): Promise<void>
  /** Call it after a commit that may have recorded an event of the user: it is sent at once. */
  afterCommit(userId: UserId): void
  /** Who has webhooks. */
  readonly users: ReadonlySet<UserId>
  start(): Promise<void>
  stop(): Promise<void>
}

/** The dependencies of webhooks. */
export interface WebhooksOptions {
  repository: WebhookRepository
  audit: Pick<AuditRepository, 'record'>
  fetch: GuardedFetch
  secrets: SecretBox
  write(work: (tx: Writer) => Promise<void>): Promise<void>
  limits: Limits
  now(): Date
  log: { warn(details: object, message: string): void }
  /** The pause between attempts, in milliseconds; for tests. */
  pauseMs?: number
}

/** Call `start` once, and `stop` before the store closes. */
export function createWebhooks(options: WebhooksOptions): Webhooks {
  const { repository, audit, secrets, now } = options
  /** In memory, because the end of every run needs it. */
  const users = new Set<UserId>()
  const tests = options.limits.rateLimit('webhook tests', {
    limit: TESTS_PER_HOUR,
    windowMs: HOUR_MS,
  })

  const reload = async (): Promise<void> => {
    const found = await repository.users()
    users.clear()
    for (const user of found) users.add(user)
  }
  const outbox = createOutbox<{ webhook: WebhookRow; delivery: WebhookDeliveryRow }>({
    queue: repository,
    pausesSeconds: RETRY_PAUSES_SECONDS,
    pauseMs: options.pauseMs,
    now,
    log: options.log,
    async send({ webhook, delivery: { id, content: body } }, signal) {
      const headers = webhookHeaders({ id, body }, { secrets: secretsOf(webhook), now: now() })
      const outcome = await postJson({
        fetch: options.fetch,
        url: webhook.url,
        body,
        headers,
        signal,
      })
      if (!outcome.ok && outcome.failure.params?.status === GONE) {
        await repository.update(webhook.userId, webhook.id, { isActive: false })
        await reload()
        return outcome
      }
      // A receiver may refuse requests while it is being deployed or configured, so every other failure is retried.
      return outcome.ok ? outcome : { ...outcome, retry: true }
    },
  })
  const events = createWebhookEvents({
    repository,
    users,
    now,
    log: options.log,
    async write(work) {
      await options.write(work)
      outbox.wake()
    },
  })

  /** Newest first. */
  function secretsOf({ id, sealedSecret, sealedEarlierSecret: earlier, ...row }: WebhookRow) {
    const isAccepted = row.earlierUntil !== null && row.earlierUntil > now()
    const sealed = earlier !== null && isAccepted ? [sealedSecret, earlier] : [sealedSecret]
    return sealed.map((one) => secrets.open(one, webhookSealPurpose(id)))
  }
  function afterCommit(userId: UserId): void {
    if (users.has(userId)) outbox.wake()
  }
  async function find(userId: UserId, id: string): Promise<WebhookRow> {
    const webhook = await repository.find(userId, id)
    if (webhook === undefined) throw appError('webhook_not_found')
    return webhook
  }
  const recorded =
    (actor: Actor, action: AuditAction, details: AuditDetails) =>
    (tx: Writer): Promise<void> =>
      audit.record(tx, actor, { action, at: now(), details })
  const presentWithLast = async (webhook: WebhookRow): Promise<Webhook> =>
    present(webhook, (await repository.deliveries(webhook.id, 1))[0], now())

  return {
    events,
    reload,
    list: async (userId) => Promise.all((await repository.list(userId)).map(presentWithLast)),

    async create(userId, { url, events: wanted }, actor) {
      const id = newId<string>()
      const secret = newWebhookSecret()
      const webhook: WebhookRow = {
        id,
        userId,
        url,
        events: wanted,
        sealedSecret: secrets.seal(secret, webhookSealPurpose(id)),
        sealedEarlierSecret: null,
        earlierUntil: null,
        isActive: true,
        createdAt: now(),
      }
      const details = { id, ...hostOf(url), events: wanted.join(' ') }
      const entry = recorded(actor, 'webhook_created', details)
      if (!(await repository.insert(webhook, MAX_WEBHOOKS, entry)))
        throw appError('webhooks_exhausted', { limit: MAX_WEBHOOKS })
      await reload()
      return { ...present(webhook, undefined, now()), secret }
    },

    async change(userId, id, changes, actor) {
      const { url, events: wanted, is_active: isActive } = changes
      const patch = {
        ...(url === undefined ? {} : { url }),
        ...(wanted === undefined ? {} : { events: wanted }),
        ...(isActive === undefined ? {} : { isActive }),
      }
      const isEmpty = Object.keys(patch).length === 0
      const entry = recorded(actor, 'webhook_changed', {
        id,
        ...(url === undefined ? {} : hostOf(url)),
        ...auditedFields(changes, ['events', 'is_active']),
      })
      const webhook = isEmpty
        ? await find(userId, id)
        : await repository.update(userId, id, patch, entry)
      if (webhook === undefined) throw appError('webhook_not_found')
      await reload()
      return presentWithLast(webhook)
    },

    async replaceSecret(userId, id, overlapHours, actor) {
      const { sealedSecret } = await find(userId, id)
      const secret = newWebhookSecret()
      const hasOverlap = overlapHours > 0
      const patch = {
        sealedSecret: secrets.seal(secret, webhookSealPurpose(id)),
        sealedEarlierSecret: hasOverlap ? sealedSecret : null,
        earlierUntil: hasOverlap ? new Date(now().getTime() + overlapHours * HOUR_MS) : null,
      }
      const details = { id, overlap_hours: overlapHours }
      const entry = recorded(actor, 'webhook_secret_replaced', details)
      const replaced = await repository.update(userId, id, patch, entry)
      if (replaced === undefined) throw appError('webhook_not_found')
      return { ...(await presentWithLast(replaced)), secret }
    },

    async remove(userId, id, actor) {
      if (!(await repository.remove(userId, id, recorded(actor, 'webhook_deleted', { id }))))
        throw appError('webhook_not_found')
      await reload()
    },

    async test(userId, id) {
      await find(userId, id)
      const retryAfter = await tests.acquire(userId)
      if (retryAfter !== null)
        throw appError('webhook_tests_exhausted', { limit: TESTS_PER_HOUR }, { retryAfter })
      const time = now()
      const delivery = newDelivery({
        userId,
        webhookId: id,
        event: 'webhook.test',
        occurrence: newId<string>(),
        content: JSON.stringify({ type: 'webhook.test', timestamp: time.toISOString(), data: {} }),
        at: time,
      })
      const attempted = outbox.afterFirstAttempt(delivery.id, AbortSignal.timeout(TEST_TIMEOUT_MS))
      await options.write(async (tx) => {
        await repository.enqueue(
          tx,
          userId,
          (webhook) => webhook.id === id,
          () => delivery,
          Number.MAX_SAFE_INTEGER,
        )
      })
      outbox.wake()
      await attempted
      return presentDelivery((await repository.findDelivery(delivery.id)) ?? delivery)
    },

    async deliveries(userId, id) {
      await find(userId, id)
      return (await repository.deliveries(id, SHOWN_DELIVERIES)).map(presentDelivery)
    },

    afterCommit,

    users,

    async start() {
      await reload()
      outbox.start()
    },
    stop: () => outbox.stop(),
  }
}

/** Where events go, for the audit log: the rest of an address may be a secret of its receiver. */
const hostOf = (url: string): AuditDetails => ({ host: new URL(url).host })

const present = (
  webhook: WebhookRow,
  last: WebhookDeliveryRow | undefined,
  now: Date,
): Webhook => ({
  id: webhook.id,
  url: webhook.url,
  events: webhook.events,
  is_active: webhook.isActive,
  earlier_secret_until:
    webhook.earlierUntil !== null && webhook.earlierUntil > now
      ? webhook.earlierUntil.toISOString()
      : null,
  last_delivery: last === undefined ? null : presentDelivery(last),
  created_at: webhook.createdAt.toISOString(),
})

const presentDelivery = (delivery: WebhookDeliveryRow): WebhookDelivery => ({
  id: delivery.id,
  event: delivery.event,
  status: delivery.status,
  attempts: delivery.attempts,
  error: delivery.lastError,
  reason: delivery.lastFailure?.reason ?? null,
  params: delivery.lastFailure?.params ?? null,
  next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
  created_at: delivery.createdAt.toISOString(),
})
