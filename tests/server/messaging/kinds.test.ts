// The kinds of channels: webhook, email and Telegram.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../../server/db/database.ts'
import { createEmailKind } from '../../../server/messaging/kinds/email.ts'
import { createTelegramKind } from '../../../server/messaging/kinds/telegram.ts'
import { createChannelKinds } from '../../../server/messaging/kinds.ts'
import { freePort } from '../../support/server/free-port.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import {
  fetch,
  message,
  prepareChannels,
  startMailServer,
  startReceiver,
  startSilentServer,
  strictFetch,
} from './receivers.ts'

describeOnEachDatabase('kinds of channels', (open) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })
  const prepare = (options?: Parameters<typeof prepareChannels>[1]) =>
    prepareChannels(database, options)

  test('a webhook cannot reach a private address', async () => {
    const { channels, userId } = await prepare({
      kinds: createChannelKinds({ fetch: strictFetch, smtp: undefined }),
    })
    const receiver = await startReceiver()
    await channels.create(userId, { type: 'webhook', name: 'ops', settings: { url: receiver.url } })
    const sent = await channels.send(userId, 'ops', message())
    expect(sent?.status).not.toBe('delivered')
    expect(receiver.received).toEqual([])
    expect((await channels.list(userId))[0]?.last_delivery).toMatchObject({
      reason: 'delivery_receiver_address_refused',
    })
  })

  test('a webhook whose receiver refuses the connection fails with a reason that the page can translate', async () => {
    const { channels, userId } = await prepare()
    const url = `http://127.0.0.1:${await freePort()}`
    await channels.create(userId, { type: 'webhook', name: 'ops', settings: { url } })
    await channels.send(userId, 'ops', message())
    expect((await channels.list(userId))[0]?.last_delivery).toMatchObject({
      reason: 'delivery_receiver_refused_connection',
      params: null,
    })
  })

  test('email goes only to recipients that the operator allows', async () => {
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

  test('a message to an unconfirmed address is not sent, and its failure says why', async () => {
    const { smtp, mails } = await startMailServer()
    const { channels, userId } = await prepare({
      kinds: createChannelKinds({ fetch, smtp }),
      unconfirmed: async (_user, addresses) => addresses.filter((one) => one.startsWith('kim')),
    })
    const settings = { to: ['ann@example.org', 'kim@example.org'] }
    await channels.create(userId, { type: 'email', name: 'us', settings })
    expect(await channels.send(userId, 'us', message())).toMatchObject({
      status: 'failed',
      error: 'the owner of kim@example.org has not agreed to receive email from this server',
    })
    expect(mails).toEqual([])
  })

  test('email is sent over SMTP, and a refused recipient is not retried', async () => {
    const post = await startMailServer()
    const kind = createEmailKind({ smtp: post.smtp, fetch, now: () => new Date() })
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
    const outcome = await createEmailKind({
      smtp: refusing.smtp,
      fetch,
      now: () => new Date(),
    }).send(
      { to: 'nobody@example.org' },
      { id: 'x', channel: 'me', text: 'hi', createdAt: new Date() },
      new AbortController().signal,
    )
    expect(outcome).toMatchObject({ ok: false, retry: false })
  })

  test('a channel whose server sends no email anymore, or none to its address, says why', async () => {
    const { smtp, mails } = await startMailServer()
    const reasonWith = async (settings: Parameters<typeof createEmailKind>[0]['smtp']) => {
      const outcome = await createEmailKind({ smtp: settings, fetch, now: () => new Date() }).send(
        { to: 'kim@example.org' },
        { id: 'x', channel: 'me', text: 'hi', createdAt: new Date() },
        new AbortController().signal,
      )
      return outcome.ok ? null : outcome.failure.reason
    }
    expect(await reasonWith(undefined)).toBe('delivery_mail_not_set_up')
    expect(await reasonWith({ ...smtp, allowed_recipients: ['@elsewhere.net'] })).toBe(
      'delivery_settings_unfit',
    )
    expect(mails).toEqual([])
  })

  describe('an aborted email', () => {
    const mail = { id: 'x', channel: 'me', text: 'hi', createdAt: new Date() }

    test('is not sent', async () => {
      const { smtp, mails } = await startMailServer()
      const kind = createEmailKind({ smtp, fetch, now: () => new Date() })
      const outcome = await kind.send({ to: 'kim@example.org' }, mail, AbortSignal.abort())
      expect(outcome).toMatchObject({ ok: false, retry: true })
      expect(mails).toEqual([])
    })

    // The limit is below the 20 s after which the client gives up on such a server without an abort.
    test('does not wait for a silent mail server', { timeout: 18_000 }, async () => {
      const { smtp, connected } = await startSilentServer()
      const controller = new AbortController()
      const sent = createEmailKind({ smtp, fetch, now: () => new Date() }).send(
        { to: 'kim@example.org' },
        mail,
        controller.signal,
      )
      await connected
      controller.abort()
      expect(await sent).toMatchObject({ ok: false, retry: true })
    })
  })

  test('Telegram gets long texts in pieces, and its token is not shown', async () => {
    const receiver = await startReceiver()
    const kind = createTelegramKind({ fetch, apiUrl: receiver.url })
    const { channels, userId } = await prepare({ kinds: new Map([['telegram', kind]]) })
    const token = `12345:${'a'.repeat(35)}`
    const created = await channels.create(userId, {
      type: 'telegram',
      name: 'phone',
      settings: { bot_token: token, chat_id: 42 },
    })
    expect(created.settings).toEqual({ chat_id: '42' })
    expect(await channels.send(userId, 'phone', message('x'.repeat(5_000)))).toMatchObject({
      status: 'delivered',
    })
    expect(receiver.received.map(({ url }) => url)).toEqual(
      Array(2).fill(`/bot${token}/sendMessage`),
    )
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({ chat_id: '42' })
    // The receiver answers 200 with a body that says nothing: it took the part of an answer, too.
    const part = await kind.messenger?.send(
      { bot_token: token },
      { chatId: '42', threadId: '' },
      { type: 'text', text: 'hi', id: 'x' },
      new AbortController().signal,
    )
    expect(part).toEqual({ ok: true })
  })
})
