// Push notifications, which reach this browser even while the page is closed. The service worker shows them.

import i18next from 'i18next'
import type { z } from 'zod'
import type {
  PushSettings,
  PushSubscriptionBody,
  StoredPushSubscription,
} from '../../../../server/protocol/accounts/push.ts'
import { BASE_PATH, fromHost } from '../base-path.ts'
import { request, requestDone } from '../http/api-client.ts'
import { useSession } from '../http/session.ts'
import { loadPageTexts } from '../i18n/i18n.ts'
import { useNotifications } from './notifications.ts'

/** The cache entry with the service worker's texts in the user's language. The path is only a key: no such file exists. */
const TEXTS = { cache: `nanoclaw-texts${BASE_PATH}`, path: fromHost('/assets/.push-texts') }

/** The server's id of this browser's subscription. */
let subscriptionId: string | null = null

async function storeTexts(): Promise<void> {
  await loadPageTexts()
  const { t } = i18next
  const texts = {
    answer_ready: t('chat.ready'),
    answer_failed: t('chat.notReady'),
    waiting: t('chat.waiting'),
    schedule_not_run: t('schedules.notRun'),
    approve: t('approval.approve'),
    reject: t('approval.reject'),
    tools: t('toolNames', { returnObjects: true }),
    receipt: t('receipt', { returnObjects: true }),
    language: i18next.language,
  }
  const cache = await caches.open(TEXTS.cache)
  await cache.put(TEXTS.path, Response.json(texts))
}

const base64url = (bytes: ArrayBuffer | null): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes ?? new ArrayBuffer(0))))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')

/** The browser's subscription for the server's key. Replaces one that was created for an earlier key. */
async function subscription(manager: PushManager): Promise<PushSubscription> {
  const { public_key: key } = await request<z.output<typeof PushSettings>>('/api/push')
  const current = await manager.getSubscription()
  if (current !== null && base64url(current.options.applicationServerKey) === key) return current
  await current?.unsubscribe()
  return await manager.subscribe({ userVisibleOnly: true, applicationServerKey: key })
}

async function findPushManager(): Promise<PushManager | null> {
  if (!('serviceWorker' in navigator) || !('PushManager' in globalThis)) return null
  const registration = await navigator.serviceWorker.getRegistration()
  return registration === undefined ? null : registration.pushManager
}

/** Subscribes this browser or renews its subscription. Without a push service, only the open page shows notifications. */
async function startPush(): Promise<void> {
  const manager = await findPushManager()
  if (manager === null) return
  await storeTexts()
  const { endpoint = '', keys = {} } = (await subscription(manager)).toJSON()
  const { p256dh = '', auth = '' } = keys
  const body: PushSubscriptionBody = { endpoint, keys: { p256dh, auth } }
  const { id } = await request<z.output<typeof StoredPushSubscription>>('/api/push/subscriptions', {
    method: 'POST',
    body,
  })
  subscriptionId = id
}

/** Ends the subscription in the browser. On the server it ends with this request, or has ended with the session. */
async function endPush(isSignedIn: boolean): Promise<void> {
  const current = await (await findPushManager())?.getSubscription()
  await current?.unsubscribe()
  const id = subscriptionId
  subscriptionId = null
  if (isSignedIn && id !== null)
    await requestDone(`/api/push/subscriptions/${id}`, { method: 'DELETE' })
}

/**
 * Keeps the subscription in sync with the user's choice and session. Renews it at each start, because browsers drop
 * subscriptions. Call it once.
 */
export function followPush(): void {
  // Fails without a push service or a connection; the next start tries again.
  const begin = (): void => void startPush().catch(() => undefined)
  const end = (isSignedIn: boolean): void => void endPush(isSignedIn).catch(() => undefined)
  if (useNotifications.getState().on && useSession.getState().state !== 'out') begin()
  useNotifications.subscribe(({ on }, before) => {
    if (on !== before.on) on ? begin() : end(true)
  })
  useSession.subscribe(({ state }, before) => {
    if (state === before.state) return
    if (state === 'in' && useNotifications.getState().on) begin()
    if (state === 'out') end(false)
  })
  i18next.on('languageChanged', () => {
    if (useNotifications.getState().on) void storeTexts().catch(() => undefined)
  })
}
