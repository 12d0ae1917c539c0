// Push notifications: who receives them, and sending them when an answer has ended or a request waits for a person.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { SecretBox } from '../auth/secret-box.ts'
import type { PushRepository, PushSubscriptionRow } from '../db/repositories/accounts/push.ts'
import type { Store } from '../db/store.ts'
import { errorText } from '../errors.ts'
import type { Limits } from '../lib/limits.ts'
import { atMost } from '../lib/lru-limit.ts'
import type { GuardedFetch } from '../net/guarded-fetch.ts'
import type {
  PushNotice,
  PushSubscriptionBody,
  RunNotice,
  ScheduleNotice,
} from '../protocol/accounts/push.ts'
import { type ConversationId, RunId, type UserId } from '../protocol/ids.ts'
import type { ReceiptCounts } from '../protocol/runs/receipt.ts'
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

const NOTICES: Partial<Record<RunStatus, RunNotice['type']>> = {
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
  /** Who has subscriptions. In memory, because every change of a run needs it. */
  readonly users: ReadonlySet<UserId>
  /** Notifies a user with subscriptions when their run ends. */
  runChanged(userId: UserId, runId: string): void
  /** Notifies a user of a request that waits. Never rejects. */
  tellWaiting(
    userId: UserId,
    request: Pick<
      RunNotice,
      'run_id' | 'conversation_id' | 'approval_id' | 'call_hash' | 'deadline' | 'approver'
    >,
  ): Promise<void>
  /** Notifies a user of what came of a run that they do not attend. Never rejects. */
  tellEnded(
    userId: UserId,
    notice: { run_id: RunId; conversation_id: ConversationId; failed: boolean },
  ): Promise<void>
  /** Notifies a user of a scheduled task that did not run. Never rejects. */
  tellNotRun(userId: UserId, notice: Omit<ScheduleNotice, 'type'>): Promise<void>
  /** Resolves when all notifications in progress have been sent or have failed. */
  settled(): Promise<void>
  stop(): Promise<void>
}

/**
 * How push services contact the operator: Apple's wants an https or mailto URL with a real domain. Without a public address only
 * browsers on this machine can subscribe, and some services refuse this subject.
 */
export const pushSubject = (publicUrl: string | undefined): string =>
  publicUrl?.startsWith('https:') === true ? publicUrl : 'https://localhost'

/** A new key, to be sealed for `PUSH_KEY_PURPOSE`. */
export const newPushKey = (): string => JSON.stringify(newVapidKeys())

/** The dependencies of push notifications. */
export interface PushOptions {
  repository: PushRepository
  /** Where its key is stored, sealed. */
  settings: Pick<Store['settings'], 'get' | 'create'>
  /** Resolves to null if nobody should be notified of the run. */
  findRun(id: RunId): Promise<{
    status: RunStatus
    conversationId: ConversationId
    /** A run that continues after a failure may fail again. */
    attempt: number
    /** What its answer did; absent until it has ended. */
    receipt?: ReceiptCounts | undefined
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

/** The options, and what is known of subscriptions and sent notifications. */
interface Notifications extends PushOptions {
  users: Set<UserId>
  vapid: Promise<VapidKeys> | undefined
  sending: Set<Promise<void>>
  stopping: AbortController
  /** The last notification about each run, so that it is not repeated. */
  said: LRUCache<RunId, string>
  notices: ReturnType<Limits['rateLimit']>
}

/** Notifies nobody before `reload` has read which users have subscriptions. */
export function createPush(options: PushOptions): Push {
  const { repository, now } = options
  const push: Notifications = {
    ...options,
    users: new Set(),
    vapid: undefined,
    sending: new Set(),
    stopping: new AbortController(),
    said: new LRUCache(atMost(MAX_KNOWN_RUNS)),
    notices: options.limits.rateLimit('push notifications', {
      limit: NOTICES_PER_HOUR,
      windowMs: 3_600_000,
    }),
  }

  return {
    publicKey: async () => (await vapidKeys(push)).publicKey,

    async subscribe(userId, sessionId, { endpoint, keys: { p256dh, auth } }) {
      const id = createHash('sha256').update(endpoint).digest('hex')
      const row = { id, userId, sessionId, endpoint, p256dh, auth, createdAt: now() }
      await repository.store(row, MAX_SUBSCRIPTIONS)
      await reload(push)
      return id
    },

    async unsubscribe(userId, id) {
      await repository.remove(userId, id)
      await reload(push)
    },

    reload: () => reload(push),

    users: push.users,

    runChanged(userId, runId) {
      const id = RunId.parse(runId)
      void perform(push, id, notify(push, userId, id))
    },

    tellWaiting: (userId, request) =>
      perform(push, request.run_id, sendToAll(push, userId, { type: 'waiting', ...request })),

    tellEnded: (userId, { failed, ...run }) =>
      perform(
        push,
        run.run_id,
        sendToAll(push, userId, { type: failed ? 'answer_failed' : 'answer_ready', ...run }),
      ),

    tellNotRun: (userId, notice) =>
      perform(
        push,
        notice.occurrence_id,
        sendToAll(push, userId, { type: 'schedule_not_run', ...notice }),
      ),

    settled: () => settled(push),

    async stop() {
      push.stopping.abort()
      await settled(push)
    },
  }
}

const reload = async (push: Notifications): Promise<void> => {
  const { repository } = push
  const users = await repository.users()
  push.users.clear()
  for (const user of users) push.users.add(user)
}

async function readKeys(push: Notifications): Promise<VapidKeys> {
  const { settings, secrets } = push
  const stored = await settings.get(PUSH_KEY_SETTING, z.string())
  // One that cannot be opened stays: the secret key may come back, and with it all subscriptions.
  if (stored !== undefined)
    return VapidKeys.parse(JSON.parse(secrets.open(stored, PUSH_KEY_PURPOSE)))
  await settings.create(PUSH_KEY_SETTING, secrets.seal(newPushKey(), PUSH_KEY_PURPOSE))
  // Another instance may have stored one first.
  return await readKeys(push)
}

const vapidKeys = (push: Notifications): Promise<VapidKeys> => {
  push.vapid ??= readKeys(push).catch((error: unknown) => {
    push.vapid = undefined
    throw error
  })
  return push.vapid
}

async function send(
  push: Notifications,
  to: PushSubscriptionRow,
  notice: PushNotice,
): Promise<void> {
  const { stopping, repository, log } = push
  const { headers, body } = await pushRequest({
    text: JSON.stringify(notice),
    endpoint: to.endpoint,
    keys: to,
    vapid: await vapidKeys(push),
    subject: push.subject,
    lifetimeSeconds: LIFETIME_SECONDS,
    urgency: notice.type === 'waiting' ? 'high' : 'normal',
    // A later notification about the same run, or schedule, replaces an undelivered one.
    topic: createHash('sha256').update(subjectOf(notice)).digest('base64url').slice(0, 32),
  })
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await post({
      fetch: push.fetch,
      url: to.endpoint,
      body,
      headers,
      signal: stopping.signal,
    })
    if (outcome.ok) return
    const status = outcome.failure.params?.status
    if (typeof status === 'number' && ENDED_STATUSES.includes(status)) {
      await repository.remove(to.userId, to.id)
      await reload(push)
      return
    }
    const pause = PAUSES_MS[attempt]
    if (!outcome.retry || pause === undefined) {
      const { reason, params } = outcome.failure
      log.warn(
        { about: subjectOf(notice), reason, ...params },
        'a push notification could not be sent',
      )
      return
    }
    await sleep(push.pauseMs ?? pause, undefined, { signal: stopping.signal })
  }
}

/** The id of what a notification is about. */
const subjectOf = (notice: PushNotice): string =>
  'run_id' in notice ? notice.run_id : notice.schedule_id

async function notify(push: Notifications, userId: UserId, id: RunId): Promise<void> {
  const { said } = push
  const run = await push.findRun(id)
  if (run === null) return
  const type = NOTICES[run.status]
  const state = `${run.status} ${run.attempt}`
  if (said.get(id) === state) return
  said.set(id, state)
  if (type !== undefined)
    await sendToAll(push, userId, {
      type,
      run_id: id,
      conversation_id: run.conversationId,
      ...(type === 'answer_ready' && run.receipt !== undefined ? { receipt: run.receipt } : {}),
    })
}

async function sendToAll(push: Notifications, userId: UserId, notice: PushNotice): Promise<void> {
  const { repository, now, notices } = push
  const to = await repository.ofUser(userId, now())
  if (to.length === 0 || (await notices.acquire(userId)) !== null) return
  await Promise.all(to.map((one) => send(push, one, notice)))
}

/** Resolves when the work is done, also after a failure. */
function perform(push: Notifications, id: string, work: Promise<void>): Promise<void> {
  const { stopping, log, sending } = push
  const done = work.catch((error: unknown) => {
    if (!stopping.signal.aborted)
      log.warn({ about: id, cause: errorText(error) }, 'a push notification could not be sent')
  })
  sending.add(done)
  return done.finally(() => sending.delete(done))
}

const settled = async ({ sending }: Notifications): Promise<void> => {
  while (sending.size > 0) await Promise.all(sending)
}
