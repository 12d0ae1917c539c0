// Messages to channels: real HTTP and SMTP receivers on loopback, both databases, failures and restarts.
import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { createSecretBox } from '../../../server/auth/secret-box.ts'
import { createChannelRepository } from '../../../server/db/repositories/channels.ts'
import { newId } from '../../../server/lib/ids.ts'
import { type Channels, createChannels } from '../../../server/messaging/channels.ts'
import { createEmailKind } from '../../../server/messaging/email.ts'
import { createChannelKinds } from '../../../server/messaging/kinds.ts'
import { createTelegramKind } from '../../../server/messaging/telegram.ts'
import { createAddressRules } from '../../../server/net/addresses.ts'
import { createGuardedFetch } from '../../../server/net/guarded-fetch.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { addUser } from '../../support/rows.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** An HTTP receiver that answers with the statuses given, one after another, then 200. */
async function startReceiver(...statuses: number[]) {
  const received: { url: string; headers: IncomingHttpHeaders; body: string }[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push({
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      })
      response.writeHead(statuses.shift() ?? 200).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo // a TCP server that listens has one
  return { url: `http://127.0.0.1:${port}`, received }
}

/** The few words of SMTP that a sender needs. `refuse` answers the recipient with 550. */
async function startMailServer(refuse = false) {
  const mails: string[] = []
  const server = createTcpServer((socket) => {
    let inData = false
    let text = ''
    socket.write('220 test ESMTP\r\n')
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      text += chunk.toString('utf8')
      for (;;) {
        const mark = inData ? '\r\n.\r\n' : '\r\n'
        const end = text.indexOf(mark)
        if (end === -1) return
        const line = text.slice(0, end)
        text = text.slice(end + mark.length)
        if (inData) {
          mails.push(line)
          inData = false
          socket.write('250 stored\r\n')
        } else if (/^DATA/i.test(line)) {
          inData = true
          socket.write('354 go on\r\n')
        } else if (/^RCPT/i.test(line) && refuse) socket.write('550 no such box\r\n')
        else if (/^QUIT/i.test(line)) socket.end('221 bye\r\n')
        else socket.write('250 ok\r\n')
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => new Promise((resolve) => server.close(resolve)))
  const { port } = server.address() as AddressInfo // a TCP server that listens has one
  return { smtp: { host: '127.0.0.1', port, from: 'claw@example.org' }, mails }
}

const fetch = createGuardedFetch({
  rules: createAddressRules({ allowPrivate: ['127.0.0.1'], allowPorts: [80, 443] }),
})
const strictFetch = createGuardedFetch({
  rules: createAddressRules({ allowPrivate: [], allowPorts: [80, 443] }),
})
/** As long as a slow machine may need. */
const SLOW = { timeout: 30_000 }
const secrets = createSecretBox(Buffer.alloc(32, 7))

describeOnEachDatabase('channels', (open) => {
  const prepare = async (options: Partial<Parameters<typeof createChannels>[0]> = {}) => {
    const database = await open()
    const userId = await addUser(database)
    const start = (): Channels => {
      const channels = createChannels({
        repository: createChannelRepository(database),
        kinds: createChannelKinds({ fetch, smtp: undefined }),
        secrets,
        isUniqueViolation: (error) => database.isUniqueViolation(error),
        now: () => new Date(),
        log: { warn: () => undefined },
        messagesPerHour: 60,
        pauseMs: 20,
        ...options,
      })
      channels.start()
      cleanups.push(() => channels.stop())
      return channels
    }
    return { database, userId, channels: start(), start }
  }
  const message = (text = 'hello') => ({
    text,
    conversationId: null,
    signal: new AbortController().signal,
  })

  test('a user sends to so many recipients an hour, in a burst and with channels made anew', async () => {
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

  test('mail goes only where the operator allows', async () => {
    const { smtp } = await startMailServer()
    const { channels, userId } = await prepare({
      kinds: createChannelKinds({
        fetch,
        smtp: { ...smtp, allowed_recipients: ['@Example.org', 'ann@elsewhere.net'] },
      }),
    })
    const create = (name: string, to: string | string[]) =>
      channels.create(userId, { type: 'email', name, settings: { to } })
    await create('inside', ['kim@example.ORG', 'Ann@elsewhere.net'])
    for (const to of ['bob@elsewhere.net', 'kim@example.org.evil.net', 'kim@sub.example.org'])
      await expect(create(to, ['kim@example.org', to])).rejects.toMatchObject({
        code: 'validation_failed',
      })
  })

  test('a user has twenty channels at most, however many are made at once', async () => {
    const { channels, userId } = await prepare()
    const made = await Promise.allSettled(
      Array.from({ length: 30 }, (_, n) =>
        channels.create(userId, {
          type: 'webhook',
          name: `hook ${n}`,
          settings: { url: 'https://example.org/' },
        }),
      ),
    )
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
    expect(await channels.list(userId)).toHaveLength(20)
  })

  test('a webhook gets the message, signed, and its secrets are never given back or stored in clear', async () => {
    const { channels, userId, database } = await prepare()
    const receiver = await startReceiver()
    const made = await channels.create(userId, {
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
    expect(JSON.stringify([made, await channels.list(userId), stored])).not.toContain('SECRET')
  })

  test('what fails is tried again with the same id until it is delivered', async () => {
    const { channels, userId } = await prepare()
    const receiver = await startReceiver(500, 429, 503)
    await channels.create(userId, { type: 'webhook', name: 'ops', settings: { url: receiver.url } })
    expect(await channels.send(userId, 'ops', message())).toMatchObject({
      status: 'pending',
      error: 'the receiver answered 500',
    })
    await vi.waitFor(
      async () =>
        expect((await channels.list(userId))[0]?.last_delivery).toMatchObject({
          status: 'delivered',
          attempts: 4,
          error: null,
        }),
      SLOW,
    )
    const ids = receiver.received.map(({ headers }) => headers['x-nanoclaw-delivery'])
    expect(ids).toHaveLength(4)
    expect(new Set(ids).size).toBe(1)
  })

  test('what the receiver refuses is reported as failed and not tried again', async () => {
    const { channels, userId } = await prepare()
    const receiver = await startReceiver(404)
    await channels.create(userId, { type: 'webhook', name: 'ops', settings: { url: receiver.url } })
    expect(await channels.send(userId, 'ops', message())).toMatchObject({
      status: 'failed',
      error: 'the receiver answered 404',
    })
    expect((await channels.list(userId))[0]?.last_delivery).toMatchObject({ attempts: 1 })
  })

  test('after the last attempt a delivery has failed, with the reason; its sender is notified once', async () => {
    const told: object[] = []
    const { channels, userId } = await prepare({ onGivenUp: async (failure) => told.push(failure) })
    const receiver = await startReceiver(...Array.from({ length: 20 }, () => 500))
    await channels.create(userId, { type: 'webhook', name: 'ops', settings: { url: receiver.url } })
    await channels.send(userId, 'ops', message())
    await vi.waitFor(
      async () =>
        expect((await channels.list(userId))[0]?.last_delivery).toMatchObject({
          status: 'failed',
          attempts: 6,
        }),
      SLOW,
    )
    expect(receiver.received).toHaveLength(6)
    await vi.waitFor(
      () =>
        expect(told).toMatchObject([
          { userId, channel: 'ops', text: 'hello', error: 'the receiver answered 500' },
        ]),
      SLOW,
    )
  })

  test('a message stored before the process ended is sent after the next start', async () => {
    const { channels, userId, database, start } = await prepare()
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
    await vi.waitFor(() => expect(receiver.received[0]?.body).toContain('from before'), SLOW)
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
    await vi.waitFor(() => expect(receiver.received).toHaveLength(10), SLOW)
    expect(new Set(receiver.received.map(({ body }) => JSON.parse(body).text)).size).toBe(10)
  })

  test('a webhook can not reach a private address, and says so', async () => {
    const { channels, userId } = await prepare({
      kinds: createChannelKinds({ fetch: strictFetch, smtp: undefined }),
    })
    const receiver = await startReceiver()
    await channels.create(userId, { type: 'webhook', name: 'ops', settings: { url: receiver.url } })
    const sent = await channels.send(userId, 'ops', message())
    expect(sent?.status).not.toBe('delivered')
    expect(receiver.received).toEqual([])
  })

  test('e-mail goes out over SMTP; a refused recipient is final', async () => {
    const post = await startMailServer()
    const kind = createEmailKind({ smtp: post.smtp })
    const { channels, userId } = await prepare({ kinds: new Map([['email', kind]]) })
    await channels.create(userId, {
      type: 'email',
      name: 'me',
      settings: { to: 'kim@example.org' },
    })
    expect(await channels.send(userId, 'me', message('Report ready\nAll is well.'))).toMatchObject({
      status: 'delivered',
    })
    expect(post.mails[0]).toMatch(/To: kim@example\.org/)
    expect(post.mails[0]).toMatch(/Subject: Report ready/)
    expect(post.mails[0]).toContain('All is well.')

    const refusing = await startMailServer(true)
    const outcome = await createEmailKind({ smtp: refusing.smtp }).send(
      { to: 'nobody@example.org' },
      { id: 'x', channel: 'me', text: 'hi', createdAt: new Date() },
      new AbortController().signal,
    )
    expect(outcome).toMatchObject({ ok: false, retry: false })
  })

  test('Telegram gets long texts in pieces, and its token is not shown', async () => {
    const receiver = await startReceiver()
    const kind = createTelegramKind({ fetch, apiUrl: receiver.url })
    const { channels, userId } = await prepare({ kinds: new Map([['telegram', kind]]) })
    const token = `12345:${'a'.repeat(35)}`
    const made = await channels.create(userId, {
      type: 'telegram',
      name: 'phone',
      settings: { bot_token: token, chat_id: 42 },
    })
    expect(made.settings).toEqual({ chat_id: '42' })
    expect(await channels.send(userId, 'phone', message('x'.repeat(5_000)))).toMatchObject({
      status: 'delivered',
    })
    expect(receiver.received.map(({ url }) => url)).toEqual(
      Array(2).fill(`/bot${token}/sendMessage`),
    )
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({ chat_id: '42' })
  })

  test('wrong settings, taken names, unknown kinds and foreign channels are refused', async () => {
    const { channels, userId, database } = await prepare()
    const create = (type: string, name: string, settings: unknown, owner = userId) =>
      channels.create(owner, { type, name, settings })
    await expect(create('webhook', 'a', { url: 'file:///etc/passwd' })).rejects.toMatchObject({
      status: 400,
    })
    await expect(create('email', 'a', { to: 'kim@example.org' })).rejects.toThrow('smtp')
    await expect(create('carrier-pigeon', 'a', {})).rejects.toThrow('webhook, email, telegram')
    const made = await create('webhook', 'a', { url: 'https://example.org' })
    await expect(create('webhook', 'a', { url: 'https://example.org' })).rejects.toMatchObject({
      status: 409,
    })
    const stranger = await addUser(database)
    await expect(channels.remove(stranger, made.id)).rejects.toMatchObject({ status: 404 })
    expect(await channels.send(stranger, 'a', message())).toBeNull()
    expect(await channels.list(stranger)).toEqual([])
    await channels.remove(userId, made.id)
    expect(await channels.list(userId)).toEqual([])
  })
})
