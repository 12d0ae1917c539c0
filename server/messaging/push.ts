// Push notifications: who receives them, and sending them when an answer has ended or waits for a person.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { SecretBox } from '../auth/secret-box.ts'
import type { PushRepository, PushSubscriptionRow } from '../db/repositories/accounts/push.ts'
import { errorText } from '../errors.ts'
import type { Limits } from '../lib/limits.ts'
import { atMost } from '../lib/lru-limit.ts'
import type { GuardedFetch } from '../net/guarded-fetch.ts'
import type { PushNotice, PushSubscriptionBody } from '../protocol/accounts/push.ts'
import type { Change } from '../protocol/change.ts'
import { type ConversationId, RunId, type UserId } from '../protocol/ids.ts'
import type { RunStatus } from '../protocol/runs/run.ts'
import { post } from './post.ts'
import { newVapidKeys, pushRequest, VapidKeys } from './web-push.ts'

/** Maximum number of devices per user. A new one replaces the oldest. */
const MAX_SUBSCRIPTIONS = 20
/** Nobody reads more, and programs may start thousands of runs. */
const NOTICES_PER_HOUR = 120
/** A notification that was not delivered within this time is outdated. */
const LIFETIME_SECONDS = 12 * 3_600
/** Pauses between attempts while the push service is busy or unreachable. The page shows the news in any case. */
const PAUSES_MS = [5_000, 60_000]
const MAX_KNOWN_RUNS = 10_000
/** The subscription has ended or was created for another key. */
const ENDED_STATUSES: readonly number[] = [401, 403, 404, 410]

export const PUSH_KEY_SETTING = 'web_push_key'
export const PUSH_KEY_PURPOSE = 'web push key'

const NOTICES: Partial<Record<RunStatus, PushNotice['type']>> = {
  awaiting_approval: 'waiting',
  awaiting_input: 'waiting',
  completed: 'answer_ready',
  failed: 'answer_failed',
  interrupted: 'answer_failed',
}

/** Notifications in browsers that have subscribed (Web Push). */
export interface Push {
  /** The key with which browsers subscribe. */
  publicKey(): Promise<string>
  /** Stores or renews a browser's subscription. @param sessionId the page's session; null: it stays until it is removed. */
  subscribe(
    userId: UserId,
    sessionId: string | null,
    subscription: PushSubscriptionBody,
  ): Promise<string>
  unsubscribe(userId: UserId, id: string): Promise<void>
  /** Reads again which users have subscriptions, because other instances may have changed that. */
  reload(): Promise<void>
  /** Announces changes of runs, and notifies their users when a run ends or waits. */
  sentWith(
    announce: (userId: UserId, change: Change) => void,
  ): (userId: UserId, change: Change) => void
  /** Resolves when all notifications in progress have been sent or have failed. */
  settled(): Promise<void>
  stop(): Promise<void>
}

/** A new key, to be sealed for `PUSH_KEY_PURPOSE`. */
export const newPushKey = (): string => JSON.stringify(newVapidKeys())

/** The dependencies of push notifications. */
export interface PushOptions {
  repository: PushRepository
  keys: {
    get(): Promise<string | undefined>
    /** Stores a key if none is stored. */
    putNew(sealed: string): Promise<void>
  }
  /** Resolves to null if nobody should be notified of the run. */
  findRun(id: RunId): Promise<{
    status: RunStatus
    conversationId: ConversationId
    /** A run that continues after a failure may fail again. */
    attempt: number
  } | null>
  secrets: SecretBox
  fetch: GuardedFetch
  /** How push services contact the operator: an https or mailto URL. */
  subject: string
  limits: Limits
  now(): Date
  log: { warn(details: object, message: string): void }
  /** The pause between attempts, in milliseconds; for tests. */
  pauseMs?: number
}

/** Notifies nobody before `reload` has read which users have subscriptions. */
export function createPush(options: PushOptions): Push {
  const { repository, keys, secrets, now, log } = options
  /** In memory, because every change of a run needs it. */
  let users: ReadonlySet<UserId> = new Set()
  let vapid: Promise<VapidKeys> | undefined
  const sending = new Set<Promise<void>>()
  const stopping = new AbortController()
  /** The last notification about each run, so that it is not repeated. */
  const said = new LRUCache<RunId, string>(atMost(MAX_KNOWN_RUNS))
  const notices = options.limits.rateLimit('push notifications', {
    limit: NOTICES_PER_HOUR,
    windowMs: 3_600_000,
  })

  const reload = async (): Promise<void> => {
    users = new Set(await repository.users())
  }

  async function readKeys(): Promise<VapidKeys> {
    const stored = await keys.get()
    // One that cannot be opened stays: the secret key may come back, and with it all subscriptions.
    if (stored !== undefined)
      return VapidKeys.parse(JSON.parse(secrets.open(stored, PUSH_KEY_PURPOSE)))
    await keys.putNew(secrets.seal(newPushKey(), PUSH_KEY_PURPOSE))
    // Another instance may have stored one first.
    return await readKeys()
  }
  const vapidKeys = (): Promise<VapidKeys> => {
    vapid ??= readKeys().catch((error: unknown) => {
      vapid = undefined
      throw error
    })
    return vapid
  }

  async function send(to: PushSubscriptionRow, notice: PushNotice): Promise<void> {
    const { headers, body } = await pushRequest({
      text: JSON.stringify(notice),
      endpoint: to.endpoint,
      keys: to,
      vapid: await vapidKeys(),
      subject: options.subject,
      lifetimeSeconds: LIFETIME_SECONDS,
      urgency: notice.type === 'waiting' ? 'high' : 'normal',
      // A later notification about the same run replaces an undelivered one.
      topic: createHash('sha256').update(notice.run_id).digest('base64url').slice(0, 32),
    })
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await post({
        fetch: options.fetch,
        url: to.endpoint,
        body,
        headers,
        signal: stopping.signal,
      })
      if (outcome.ok) return
      const status = outcome.failure.params?.status
      if (typeof status === 'number' && ENDED_STATUSES.includes(status)) {
        await repository.remove(to.userId, to.id)
        await reload()
        return
      }
      const pause = PAUSES_MS[attempt]
      if (!outcome.retry || pause === undefined) {
        const { reason, params } = outcome.failure
        log.warn(
          { run_id: notice.run_id, reason, ...params },
          'a push notification could not be sent',
        )
        return
      }
      await sleep(options.pauseMs ?? pause, undefined, { signal: stopping.signal })
    }
  }

  async function notify(userId: UserId, id: RunId): Promise<void> {
    const run = await options.findRun(id)
    if (run === null) return
    const type = NOTICES[run.status]
    const state = `${run.status} ${run.attempt}`
    if (said.get(id) === state) return
    said.set(id, state)
    if (type === undefined) return
    const to = await repository.ofUser(userId, now())
    if (to.length === 0 || (await notices.take(userId)) !== null) return
    const notice = { type, run_id: id, conversation_id: run.conversationId }
    await Promise.all(to.map((one) => send(one, notice)))
  }

  function begin(userId: UserId, id: RunId): void {
    const work = notify(userId, id).catch((error: unknown) => {
      if (!stopping.signal.aborted)
        log.warn({ run_id: id, cause: errorText(error) }, 'a push notification could not be sent')
    })
    sending.add(work)
    void work.finally(() => sending.delete(work))
  }
  const settled = async (): Promise<void> => {
    while (sending.size > 0) await Promise.all(sending)
  }

  return {
    publicKey: async () => (await vapidKeys()).publicKey,

    async subscribe(userId, sessionId, { endpoint, keys: { p256dh, auth } }) {
      const id = createHash('sha256').update(endpoint).digest('hex')
      const row = { id, userId, sessionId, endpoint, p256dh, auth, createdAt: now() }
      await repository.put(row, MAX_SUBSCRIPTIONS)
      await reload()
      return id
    },

    async unsubscribe(userId, id) {
      await repository.remove(userId, id)
      await reload()
    },

    reload,

    sentWith: (announce) => (userId, change) => {
      announce(userId, change)
      if (change.type === 'run' && users.has(userId)) begin(userId, RunId.parse(change.id))
    },

    settled,

    async stop() {
      stopping.abort()
      await settled()
    },
  }
}
