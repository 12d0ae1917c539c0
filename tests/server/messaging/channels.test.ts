// Channels of a user: limits, validation, ownership, and how their secrets are stored.
import { createHmac } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../server/db/database.ts'
import { createChannelKinds } from '../../../server/messaging/kinds.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import { addUser } from '../../support/store/rows.ts'
import { fetch, message, prepareChannels, startMailServer, startReceiver } from './receivers.ts'

describeOnEachDatabase('channels', (open) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })
  const prepare = (options?: Parameters<typeof prepareChannels>[1]) =>
    prepareChannels(database, options)

  test('a user can send to a limited number of recipients per hour, even in a burst and with new channels', async () => {
    const post = await startMailServer()
    const { channels, userId } = await prepare({
      kinds: createChannelKinds({ fetch, smtp: post.smtp }),
      messagesPerHour: 5,
    })
    const settings = { to: ['kim@example.org', 'lee@example.org'] }
    const { id } = await channels.create(userId, { type: 'email', name: 'team', settings })
    const sent = await Promise.allSettled(
      Array.from({ length: 10 }, () => channels.send(userId, 'team', message())),
    )
    expect(sent.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    await channels.remove(userId, id)
    await channels.create(userId, { type: 'email', name: 'team', settings })
    await expect(channels.send(userId, 'team', message())).rejects.toMatchObject({
      code: 'too_many_requests',
      retryAfter: expect.any(Number),
    })
    await channels.create(userId, {
      type: 'email',
      name: 'kim',
      settings: { to: 'kim@example.org' },
    })
    expect(await channels.send(userId, 'kim', message())).toMatchObject({ status: 'delivered' })
  })

  test('a user has at most twenty channels, however many are created at once', async () => {
    const { channels, userId } = await prepare()
    const created = await Promise.allSettled(
      Array.from({ length: 30 }, (_, n) =>
        channels.create(userId, {
          type: 'webhook',
          name: `hook ${n}`,
          settings: { url: 'https://example.org/' },
        }),
      ),
    )
    expect(created.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
    expect(await channels.list(userId)).toHaveLength(20)
  })

  test('wrong settings, taken names, unknown kinds and channels of other users are refused', async () => {
    const { channels, userId } = await prepare()
    const create = (type: string, name: string, settings: unknown, owner = userId) =>
      channels.create(owner, { type, name, settings })
    await expect(create('webhook', 'a', { url: 'file:///etc/passwd' })).rejects.toMatchObject({
      status: 400,
    })
    await expect(create('email', 'a', { to: 'kim@example.org' })).rejects.toThrow('smtp')
    await expect(create('carrier-pigeon', 'a', {})).rejects.toThrow('webhook, email, telegram')
    const created = await create('webhook', 'a', { url: 'https://example.org' })
    await expect(create('webhook', 'a', { url: 'https://example.org' })).rejects.toMatchObject({
      status: 409,
    })
    const stranger = await addUser(database)
    await expect(channels.remove(stranger, created.id)).rejects.toMatchObject({ status: 404 })
    expect(await channels.send(stranger, 'a', message())).toBeNull()
    expect(await channels.list(stranger)).toEqual([])
    await channels.remove(userId, created.id)
    expect(await channels.list(userId)).toEqual([])
  })

  test('a webhook receives the signed message, and its secrets are never returned or stored in plain text', async () => {
    const { channels, userId } = await prepare()
    const receiver = await startReceiver()
    const created = await channels.create(userId, {
      type: 'webhook',
      name: 'ops',
      settings: {
        url: `${receiver.url}/hook/SECRET-PATH`,
        secret: 'SECRET-KEY',
        headers: { 'x-a': 'SECRET-HEADER' },
      },
    })
    expect(await channels.send(userId, 'ops', message('你好'))).toMatchObject({
      status: 'delivered',
      error: null,
    })
    const [call] = receiver.received
    expect(call?.url).toBe('/hook/SECRET-PATH')
    expect(JSON.parse(call?.body ?? '')).toMatchObject({
      channel: 'ops',
      text: '你好',
      content: '你好',
    })
    const hmac = createHmac('sha256', 'SECRET-KEY')
      .update(call?.body ?? '')
      .digest('hex')
    expect(call?.headers['x-nanoclaw-signature']).toBe(`sha256=${hmac}`)
    expect(call?.headers['x-a']).toBe('SECRET-HEADER')
    const stored = await database.read.select().from(database.tables.channels)
    expect(JSON.stringify([created, await channels.list(userId), stored])).not.toContain('SECRET')
  })
})
