// Push notifications: they reach this browser while the page is closed, too. The service worker shows them.
import i18next from 'i18next'
import type { z } from 'zod'
import type {
  PushSettings,
  PushSubscriptionBody,
  StoredPushSubscription,
} from '../../../../server/protocol/accounts/push.ts'
import { request, requestDone } from '../http/api-client.ts'
import { useSession } from '../http/session.ts'
import { loadPageTexts } from '../i18n/i18n.ts'
import { useNotifications } from './notifications.ts'

/** Where the service worker finds its texts in the reader's language. No such file exists. */
const TEXTS = { cache: 'nanoclaw-texts', path: '/assets/.push-texts' }

/** The subscription of this browser, as the server knows it. */
let stored: string | null = null

async function keepTexts(): Promise<void> {
  await loadPageTexts()
  const { t } = i18next
  const texts = {
    answer_ready: t('chat.ready'),
    answer_failed: t('chat.notReady'),
    waiting: t('chat.waiting'),
    approve: t('approval.approve'),
    reject: t('approval.reject'),
    tools: t('toolNames', { returnObjects: true }),
  }
  const cache = await caches.open(TEXTS.cache)
  await cache.put(TEXTS.path, Response.json(texts))
}

const base64url = (bytes: ArrayBuffer | null): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes ?? new ArrayBuffer(0))))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')

/** The browser's subscription for the server's key; one for a key that the server no longer has is replaced. */
async function subscription(manager: PushManager): Promise<PushSubscription> {
  const { public_key: key } = await request<z.output<typeof PushSettings>>('/api/push')
  const present = await manager.getSubscription()
  if (present !== null && base64url(present.options.applicationServerKey) === key) return present
  await present?.unsubscribe()
  return await manager.subscribe({ userVisibleOnly: true, applicationServerKey: key })
}

async function managerHere(): Promise<PushManager | null> {
  if (!('serviceWorker' in navigator) || !('PushManager' in globalThis)) return null
  const registration = await navigator.serviceWorker.getRegistration()
  return registration === undefined ? null : registration.pushManager
}

/** Subscribes this browser, or renews its subscription. Without a push service the page itself notifies, while it is open. */
async function startPush(): Promise<void> {
  const manager = await managerHere()
  if (manager === null) return
  await keepTexts()
  const { endpoint = '', keys = {} } = (await subscription(manager)).toJSON()
  const { p256dh = '', auth = '' } = keys
  const body: PushSubscriptionBody = { endpoint, keys: { p256dh, auth } }
  const { id } = await request<z.output<typeof StoredPushSubscription>>('/api/push/subscriptions', {
    method: 'POST',
    body,
  })
  stored = id
}

/** Ends it here; for the server it ends with the session, or with this request. */
async function endPush(isSignedIn: boolean): Promise<void> {
  const present = await (await managerHere())?.getSubscription()
  await present?.unsubscribe()
  const id = stored
  stored = null
  if (isSignedIn && id !== null)
    await requestDone(`/api/push/subscriptions/${id}`, { method: 'DELETE' })
}

/** Keeps the subscription in step with the reader's choice and session: renewed at each start, because browsers drop them. */
export function followPush(): void {
  // Without a push service, or without a connection: tried again at the next start.
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
    if (useNotifications.getState().on) void keepTexts().catch(() => undefined)
  })
}
