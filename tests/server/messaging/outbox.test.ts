// The outbox: retries, failed deliveries, restarts and concurrent senders.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createSecretBox } from '../../../server/auth/secret-box.ts'
import type { Database } from '../../../server/db/database.ts'
import { createAuditRepository } from '../../../server/db/repositories/accounts/audit.ts'
import { createChannelRepository } from '../../../server/db/repositories/deliveries/channels.ts'
import { createWebhookRepository } from '../../../server/db/repositories/deliveries/webhooks.ts'
import { newId } from '../../../server/lib/ids.ts'
import { createLocalLimits } from '../../../server/lib/local-limits.ts'
import { createWebhooks, type Webhooks } from '../../../server/messaging/webhooks.ts'
import { COMMAND_LINE } from '../../../server/protocol/admin/audit.ts'
import type { ConversationId, MessageId, RunId, UserId } from '../../../server/protocol/ids.ts'
import { eventually } from '../../support/eventually.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import { addUser } from '../../support/store/rows.ts'
import { fetch, message, prepareChannels, startReceiver, strictFetch } from './receivers.ts'

describeOnEachDatabase('deliveries', (open) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })
  const prepare = (options?: Parameters<typeof prepareChannels>[1]) =>
    prepareChannels(database, options)

  test('a failed delivery is retried with the same id until it succeeds', async () => {
    const { channels, userId } = await prepare()
    const receiver = await startReceiver(500, 429, 503)
    await channels.create(userId, { type: 'webhook', name: 'ops', settings: { url: receiver.url } })
    expect(await channels.send(userId, 'ops', message())).toMatchObject({
      status: 'pending',
      error: 'the receiver responded with status 500',
    })
    await eventually(async () =>
      expect((await channels.list(userId))[0]?.last_delivery).toMatchObject({
        status: 'delivered',
        attempts: 4,
        error: null,
      }),
    )
    const ids = receiver.received.map(({ headers }) => headers['x-nanoclaw-delivery'])
    expect(ids).toHaveLength(4)
    expect(new Set(ids).size).toBe(1)
  })

  test('a delivery that the receiver refuses has failed and is not retried', async () => {
    const { channels, userId } = await prepare()
    const receiver = await startReceiver(404)
    await channels.create(userId, { type: 'webhook', name: 'ops', settings: { url: receiver.url } })
    expect(await channels.send(userId, 'ops', message())).toMatchObject({
      status: 'failed',
      error: 'the receiver responded with status 404',
    })
    expect((await channels.list(userId))[0]?.last_delivery).toMatchObject({
      attempts: 1,
      error: 'the receiver responded with status 404',
      reason: 'delivery_refused',
      params: { status: 404 },
    })
  })

  test('after the last attempt a delivery has failed, with the reason; its sender is notified once', async () => {
    const notices: object[] = []
    const { channels, userId } = await prepare({
      onGivenUp: async (failure) => notices.push(failure),
    })
    const receiver = await startReceiver(...Array.from({ length: 20 }, () => 500))
    await channels.create(userId, { type: 'webhook', name: 'ops', settings: { url: receiver.url } })
    await channels.send(userId, 'ops', message())
    await eventually(async () =>
      expect((await channels.list(userId))[0]?.last_delivery).toMatchObject({
        status: 'failed',
        attempts: 6,
      }),
    )
    expect(receiver.received).toHaveLength(6)
    await eventually(() =>
      expect(notices).toMatchObject([
        {
          userId,
          channel: 'ops',
          text: 'hello',
          failure: { reason: 'delivery_refused', params: { status: 500 } },
        },
      ]),
    )
  })

  test('a message stored before the process ended is sent after the next start', async () => {
    const { channels, userId, start } = await prepare()
    const receiver = await startReceiver()
    await channels.create(userId, { type: 'webhook', name: 'ops', settings: { url: receiver.url } })
    const [channel] = await channels.list(userId)
    await channels.stop()
    await createChannelRepository(database).enqueue(
      {
        id: newId(),
        userId,
        channelId: channel?.id ?? '',
        conversationId: null,
        content: 'from before',
        status: 'pending',
        attempts: 1,
        nextAttemptAt: new Date(),
        lastError: null,
        createdAt: new Date(),
      },
      100,
    )
    start()
    await eventually(() => expect(receiver.received[0]?.body).toContain('from before'))
  })

  test('two senders on one database send each message once', async () => {
    const { channels, userId, start } = await prepare()
    const other = start()
    const receiver = await startReceiver()
    await channels.create(userId, { type: 'webhook', name: 'ops', settings: { url: receiver.url } })
    await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        [channels, other][i % 2]?.send(userId, 'ops', message(`m${i}`)),
      ),
    )
    await eventually(() => expect(receiver.received).toHaveLength(10))
    expect(new Set(receiver.received.map(({ body }) => JSON.parse(body).text)).size).toBe(10)
  })

  describe('webhooks', () => {
    const run = {
      id: newId<RunId>(),
      conversationId: newId<ConversationId>(),
      messageId: newId<MessageId>(),
      attempt: 1,
    }
    const call = { id: 'c1', name: 'exec', riskLevel: 'high', createdAt: new Date() }
    const begin = async (guarded = fetch) => {
      const webhooks = createWebhooks({
        repository: createWebhookRepository(database),
        audit: createAuditRepository(database),
        fetch: guarded,
        secrets: createSecretBox(Buffer.alloc(32, 7)),
        write: (work) => database.write(work),
        limits: createLocalLimits(),
        now: () => new Date(),
        log: { warn: () => undefined },
        pauseMs: 20,
      })
      await webhooks.start()
      onTestFinished(() => webhooks.stop())
      return webhooks
    }
    const record = async (webhooks: Webhooks, userId: UserId, id = call.id) => {
      const request = { ...call, id }
      await database.write((tx) =>
        webhooks.events.approvalRequired(tx, { ...run, userId }, request),
      )
      webhooks.afterCommit(userId)
    }

    test('an event is retried with the same id and body until the receiver takes it; recorded twice, it is sent once', async () => {
      const webhooks = await begin()
      const userId = await addUser(database)
      const { url, received } = await startReceiver(500, 404, 302)
      const { id } = await webhooks.create(
        userId,
        { url, events: ['approval.required'] },
        COMMAND_LINE,
      )
      await record(webhooks, userId)
      await record(webhooks, userId)
      await eventually(async () =>
        expect((await webhooks.list(userId))[0]?.last_delivery).toMatchObject({
          status: 'delivered',
          attempts: 4,
        }),
      )
      expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
      expect(new Set(received.map(({ body }) => body)).size).toBe(1)
      expect(await webhooks.deliveries(userId, id)).toHaveLength(1)
    })

    test('two processes send each event once, and a receiver that says 410 gets no more', async () => {
      const senders = [await begin(), await begin()]
      const userId = await addUser(database)
      const { url, received } = await startReceiver()
      await senders[0]?.create(userId, { url, events: ['approval.required'] }, COMMAND_LINE)
      const gone = await startReceiver(...Array<number>(20).fill(410))
      await senders[0]?.create(
        userId,
        { url: gone.url, events: ['approval.required'] },
        COMMAND_LINE,
      )
      await senders[1]?.reload()
      await Promise.all(
        Array.from({ length: 10 }, async (_, i) => {
          const sender = senders[i % 2]
          if (sender !== undefined) await record(sender, userId, `call ${i}`)
        }),
      )
      await eventually(() => expect(received).toHaveLength(10))
      expect(new Set(received.map(({ body }) => JSON.parse(body).data.id_ref)).size).toBe(10)
      await eventually(async () =>
        expect((await senders[0]?.list(userId))?.map((one) => one.is_active)).toEqual([
          true,
          false,
        ]),
      )
      const refused = gone.received.length
      if (senders[0] !== undefined) await record(senders[0], userId, 'later')
      await eventually(() => expect(received).toHaveLength(11))
      expect(gone.received).toHaveLength(refused)
    })

    test('an address in a private network is not called, and another kind of event is not sent', async () => {
      const webhooks = await begin(strictFetch)
      const userId = await addUser(database)
      const { url, received } = await startReceiver()
      const { id } = await webhooks.create(userId, { url, events: ['run.ended'] }, COMMAND_LINE)
      await record(webhooks, userId)
      expect(await webhooks.test(userId, id)).toMatchObject({
        event: 'webhook.test',
        reason: 'delivery_receiver_address_refused',
      })
      expect(received).toEqual([])
      expect(await webhooks.deliveries(userId, id)).toHaveLength(1)
    })
  })
})
