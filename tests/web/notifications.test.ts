// System notifications: shown only if the reader turned them on, the browser permits them, and the page is not in view.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const shown: { title: string; body: string | undefined; tag: string | undefined }[] = []

const ROOT = { documentElement: { dataset: {} } }

class FakeNotification extends EventTarget {
  static permission: NotificationPermission = 'default'
  static requestPermission = async () => FakeNotification.permission
  constructor(title: string, { body, tag }: NotificationOptions = {}) {
    super()
    shown.push({ title, body, tag })
  }
  close(): void {}
}

const open = async (permission: NotificationPermission, secure = true) => {
  FakeNotification.permission = permission
  vi.stubGlobal('isSecureContext', secure)
  vi.stubGlobal('Notification', FakeNotification)
  vi.resetModules()
  return import('../../web/src/lib/browser/notifications.ts')
}

beforeEach(() => {
  shown.length = 0
  const stored = new Map<string, string>()
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
  })
  vi.stubGlobal('document', { ...ROOT, visibilityState: 'hidden', hasFocus: () => false })
})
afterEach(() => vi.unstubAllGlobals())

test('a reader who turned notifications on gets one while elsewhere, also after a reload', async () => {
  const first = await open('granted')
  first.notifyAway('Your answer is ready.', 'run 1', () => undefined)
  expect(shown).toEqual([])
  await first.useNotifications.getState().switchTo(true)
  const { notifyAway } = await open('granted')
  notifyAway('Your answer is ready.', 'run 1', () => undefined)
  expect(shown).toEqual([{ title: 'NanoClaw', body: 'Your answer is ready.', tag: 'run 1' }])
  vi.stubGlobal('document', { ...ROOT, visibilityState: 'visible', hasFocus: () => true })
  notifyAway('Your answer is ready.', 'run 2', () => undefined)
  expect(shown).toHaveLength(1)
})

test('a refused permission or an insecure page leaves notifications off', async () => {
  const refused = await open('denied')
  await refused.useNotifications.getState().switchTo(true)
  expect(refused.useNotifications.getState().on).toBe(false)
  const insecure = await open('granted', false)
  expect(insecure.canNotify()).toBe(false)
  await insecure.useNotifications.getState().switchTo(true)
  expect(insecure.useNotifications.getState().on).toBe(false)
  insecure.notifyAway('Your answer is ready.', 'run 1', () => undefined)
  expect(shown).toEqual([])
})
