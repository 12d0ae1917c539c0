// The outbox: retries, failed deliveries, restarts and concurrent senders.
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../server/db/database.ts'
import { createChannelRepository } from '../../../server/db/repositories/channels.ts'
import { newId } from '../../../server/lib/ids.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { eventually } from '../../support/eventually.ts'
import { message, prepareChannels, startReceiver } from './receivers.ts'

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
          error: 'the receiver responded with status 500',
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
})
