// Push notifications: what a browser can decrypt, whom they reach, and when subscriptions end.
import { createPublicKey, verify } from 'node:crypto'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createSecretBox } from '../../../server/auth/secret-box.ts'
import { createAnnouncer } from '../../../server/changes/change-log.ts'
import type { Database } from '../../../server/db/database.ts'
import { createPushRepository } from '../../../server/db/repositories/accounts/push.ts'
import { createSessionRepository } from '../../../server/db/repositories/accounts/sessions.ts'
import { createSettingRepository } from '../../../server/db/repositories/accounts/settings.ts'
import { newId } from '../../../server/lib/ids.ts'
import { createLocalLimits } from '../../../server/lib/local-limits.ts'
import { createPush, PUSH_KEY_SETTING } from '../../../server/messaging/push.ts'
import { isSubscriptionKey } from '../../../server/messaging/web-push.ts'
import type { ConversationId, RunId, UserId } from '../../../server/protocol/ids.ts'
import type { RunStatus } from '../../../server/protocol/runs/run.ts'
import { base64url, newBrowser } from '../../support/page/push-browser.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import { addUser } from '../../support/store/rows.ts'
import { fetch, startReceiver, strictFetch } from './receivers.ts'

test('a subscription whose key is not a point on the curve is refused', () => {
  const { keys } = newBrowser('https://push.example').subscription
  expect(isSubscriptionKey(keys.p256dh)).toBe(true)
  expect(isSubscriptionKey(base64url(Buffer.alloc(65, 4)))).toBe(false)
})

describeOnEachDatabase('push notifications', (open) => {
  let database: Database
  let userId: UserId
  beforeAll(async () => {
    database = await open()
  })

  const key = Buffer.alloc(32, 7)
  const prepare = async ({ guarded = fetch, boxKey = key } = {}) => {
    userId = await addUser(database)
    const settings = createSettingRepository(database)
    const warnings: unknown[] = []
    let status: RunStatus = 'running'
    const run = { id: newId<RunId>(), conversationId: newId<ConversationId>() }
    const push = createPush({
      repository: createPushRepository(database),
      settings,
      findRun: async (id) =>
        id === run.id ? { status, conversationId: run.conversationId, attempt: 1 } : null,
      secrets: createSecretBox(boxKey),
      fetch: guarded,
      subject: 'https://chat.example.org',
      limits: createLocalLimits(),
      now: () => new Date(),
      log: { warn: (details) => warnings.push(details) },
      pauseMs: 10,
    })
    onTestFinished(() => push.stop())
    const announcer = createAnnouncer(() => {}, { approval: () => {} })
    announcer.followRuns({ users: push.users, changed: push.runChanged })
    /** The run comes to have a status, and everything that follows is sent. */
    const become = async (next: RunStatus, of = userId) => {
      status = next
      announcer.announce(of, {
        ...{ type: 'run', id: run.id, change: 'updated' },
        conversation_id: run.conversationId,
      })
      await push.settled()
    }
    return { push, run, become, warnings, settings }
  }

  test('each device is notified once that a run waits or has ended, without any content', async () => {
    const { push, run, become } = await prepare()
    const service = await startReceiver()
    const browsers = ['/phone', '/laptop'].map((path) => newBrowser(service.url + path))
    for (const { subscription } of browsers) await push.subscribe(userId, null, subscription)
    await become('running')
    expect(service.received).toEqual([])
    await become('awaiting_approval')
    expect(service.received).toEqual([])
    await push.tellWaiting(userId, { run_id: run.id, conversation_id: run.conversationId })
    expect(service.received.map(({ url }) => url).sort()).toEqual(['/laptop', '/phone'])
    for (const { url, bytes, headers } of service.received) {
      const browser = browsers.find(({ subscription }) => subscription.endpoint.endsWith(url))
      expect(JSON.parse(browser?.read(bytes) ?? '')).toEqual({
        type: 'waiting',
        run_id: run.id,
        conversation_id: run.conversationId,
      })
      expect(headers).toMatchObject({ 'content-encoding': 'aes128gcm', urgency: 'high' })
      const [, token = '', sent = ''] =
        /^vapid t=(\S+), k=(\S+)$/.exec(headers.authorization ?? '') ?? []
      expect(sent).toBe(await push.publicKey())
      const [head = '', claims = '', signature = ''] = token.split('.')
      const point = Buffer.from(sent, 'base64url')
      const jwk = {
        kty: 'EC',
        crv: 'P-256',
        x: base64url(point.subarray(1, 33)),
        y: base64url(point.subarray(33)),
      }
      expect(
        verify(
          'sha256',
          Buffer.from(`${head}.${claims}`),
          { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
          Buffer.from(signature, 'base64url'),
        ),
      ).toBe(true)
      expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
        aud: service.url,
        sub: 'https://chat.example.org',
      })
    }
    await become('running')
    await become('completed')
    expect(service.received).toHaveLength(4)
    await become('stopped')
    expect(service.received).toHaveLength(4)
  })

  test('a subscription that the push service no longer knows is removed, and a busy service is retried', async () => {
    const { push, become } = await prepare()
    const gone = await startReceiver(410)
    const busy = await startReceiver(503, 429)
    await push.subscribe(userId, null, newBrowser(gone.url).subscription)
    await push.subscribe(userId, null, newBrowser(busy.url).subscription)
    await become('completed')
    expect([gone.received.length, busy.received.length]).toEqual([1, 3])
    await become('failed')
    expect([gone.received.length, busy.received.length]).toEqual([1, 4])
  })

  test('nothing is sent to private addresses', async () => {
    const { push, become, warnings } = await prepare({ guarded: strictFetch })
    const inside = await startReceiver()
    await push.subscribe(userId, null, newBrowser(inside.url).subscription)
    await become('completed')
    expect(inside.received).toEqual([])
    expect(warnings).toMatchObject([{ reason: 'delivery_receiver_address_refused' }])
  })

  test('a subscription ends with its session and belongs to the user who signed in last on that browser', async () => {
    const { push, run, become } = await prepare()
    const { url, received } = await startReceiver()
    const { subscription } = newBrowser(url)
    const sessions = createSessionRepository(database)
    const session = {
      id: newId<string>(),
      userId,
      kind: 'page' as const,
      generation: 1,
      userAgent: '',
      address: '',
      createdAt: new Date(),
      lastUsedAt: new Date(),
      rotatedAt: new Date(),
      expiresAt: new Date(Date.now() + 60_000),
    }
    await sessions.insert(session, { now: new Date(), atMost: 10, tokenVersion: 0 })
    await push.subscribe(userId, session.id, subscription)
    await become('completed')
    expect(received).toHaveLength(1)
    await sessions.remove(userId, session.id, async () => {})
    await become('failed')
    expect(received).toHaveLength(1)

    const other = await addUser(database)
    const id = await push.subscribe(userId, null, subscription)
    expect(await push.subscribe(other, null, subscription)).toBe(id)
    await become('completed')
    expect(received).toHaveLength(1)
    await push.unsubscribe(userId, id)
    await push.tellWaiting(other, { run_id: run.id, conversation_id: run.conversationId })
    expect(received).toHaveLength(2)
  })

  test('all instances share one key, which is stored sealed and kept if it can no longer be opened', async () => {
    const first = await prepare()
    const second = await prepare()
    const shared = await first.push.publicKey()
    expect(await second.push.publicKey()).toBe(shared)
    expect(await first.settings.get(PUSH_KEY_SETTING, z.string())).toMatch(/^v1\./)
    const elsewhere = await prepare({ boxKey: Buffer.alloc(32, 8) })
    await expect(elsewhere.push.publicKey()).rejects.toMatchObject({
      reason: 'secret_unreadable',
      status: 409,
    })
    expect(await second.push.publicKey()).toBe(shared)
  })
})
