// Email from outside, against a scripted mailbox and mail server: threads, forged and automatic mail, and what is quoted.
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { startMailbox } from '../../support/messengers/imap-server.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { type TestServer, useServers } from '../../support/server/server.ts'
import { DIALECTS } from '../../support/store/dialects.ts'
import { startMailServer } from '../messaging/receivers.ts'

const upstream = await useUpstream()
const { start } = useServers()
/** What the model does, unless a test replaces it. */
const program: { current: Parameters<typeof upstream.program>[0] } = {
  current: () => turn.text('It is 42.'),
}
const PASSED = 'Authentication-Results: mx.example.org; dmarc=pass header.from=example.com'

describe.each(DIALECTS)('email on %s', (dialect) => {
  let server: TestServer
  let box: Awaited<ReturnType<typeof startMailbox>>
  let post: Awaited<ReturnType<typeof startMailServer>>
  let address = ''
  let channelId = ''
  let count = 0
  beforeEach(async () => {
    program.current = () => turn.text('It is 42.')
    upstream.program((request) => program.current(request))
    box = await startMailbox()
    onTestFinished(() => box.close())
    post = await startMailServer()
    server = await start({
      dialect,
      config: {
        models: [{ id: 'scripted', api_url: upstream.url }],
        titles: 'off',
        smtp: post.smtp,
        public_url: 'https://claw.example.org',
        network: { allow_private: ['127.0.0.1'] },
      },
    })
    const made = await server.call('POST', '/api/channels', {
      body: {
        type: 'email',
        name: 'mail',
        settings: { imap: box.imap, address: 'agent@example.org' },
        receive: {},
      },
    })
    expect(made.status).toBe(200)
    address = made.json.data.address
    channelId = made.json.data.id
    expect(address).toBe(`agent+${made.json.data.token}@example.org`)
  })
  /** A mail of Ann, unless its headers say otherwise. */
  const mail = (text: string, headers: readonly string[] = [PASSED]): string => {
    count += 1
    const id = `<m${count}@example.com>`
    const has = (name: string) => headers.some((one) => one.startsWith(`${name}:`))
    box.deliver([
      ...headers,
      ...(has('From') ? [] : ['From: Ann <ann@example.com>']),
      ...(has('To') ? [] : [`To: ${address}`]),
      ...(has('Subject') ? [] : ['Subject: A question']),
      ...(has('Message-ID') ? [] : [`Message-ID: ${id}`]),
      ...(has('Content-Type') ? [] : ['Content-Type: text/plain; charset=utf-8']),
      '',
      ...text.split('\n'),
    ])
    return id
  }
  const conversations = async () => (await server.call('GET', '/api/conversations')).json.data.items
  const channel = async () => (await server.call('GET', '/api/channels')).json.data.items[0]
  const sent = (count: number) =>
    eventually(() => {
      expect(post.mails.length).toBeGreaterThanOrEqual(count)
      return post.mails
    })
  const pair = async () => {
    mail('hello')
    const [first] = await sent(1)
    const code = /[A-HJ-NP-Z2-9]{8}/.exec(first?.split('\r\n\r\n')[1] ?? '')?.[0]
    expect((await server.call('POST', '/api/channels/pair', { body: { code } })).status).toBe(200)
  }
  /** What the model was given of the newest message. */
  const asked = () => JSON.stringify(upstream.requests.at(-1)?.body)

  test('each mail makes one run and one answer in its thread, without what it quotes, and another thread is another conversation', async () => {
    await pair()
    const first = mail('What is it?')
    const [, answer = ''] = await sent(2)
    const header = (name: string, of: string) =>
      new RegExp(`^${name}: (.*)$`, 'im').exec(of.replaceAll(/\r\n\s+/g, ' '))?.[1]?.trim()
    expect(header('In-Reply-To', answer)).toBe(first)
    expect(header('References', answer)).toBe(first)
    expect(header('Auto-Submitted', answer)).toBe('auto-replied')
    expect(header('Reply-To', answer)).toBe(address)
    expect(header('Subject', answer)).toBe('Re: A question')
    expect(header('To', answer)).toBe('ann@example.com')
    expect(answer).toContain('It is 42.')
    expect(asked()).toContain('What is it?')
    const ours = header('Message-ID', answer) ?? ''
    // An answer to the answer names only that.
    const second = mail(
      'Sure?\n\nOn Monday, 3 May 2027, NanoClaw wrote:\n> It is 42.\n> secret quote',
      ['Subject: Re: A question', `In-Reply-To: ${ours}`],
    )
    const [, , again = ''] = await sent(3)
    expect(header('In-Reply-To', again)).toBe(second)
    expect(asked()).toContain('Sure?')
    expect(asked()).not.toContain('secret quote')
    expect(await conversations()).toHaveLength(1)
    // The same mail again, also after the connection was lost, starts nothing.
    mail('What is it?', [`Message-ID: ${first}`])
    box.drop()
    mail('Another matter.', ['Subject: Tea'])
    await sent(4)
    expect(await conversations()).toHaveLength(2)
    expect(post.mails).toHaveLength(4)
    expect(await channel()).toMatchObject({ state: 'receiving', address })
    expect((await conversations())[0].channel).toMatchObject({ type: 'email', chat_name: 'Tea' })
    expect(box.commands.some((one) => /STORE|BODY\[\]/.test(one.replace('BODY.PEEK', '')))).toBe(
      false,
    )
    expect(server.logged()).not.toContain('box-secret')
  })

  test('forged, automatic and misdirected mail starts nothing and gets no reply', async () => {
    await pair()
    const before = upstream.requests.length
    const automatic = [
      ['Auto-Submitted: auto-replied'],
      ['Auto-Submitted: auto-generated'],
      ['List-Id: <all.example.org>'],
      ['Precedence: bulk'],
      ['Return-Path: <>'],
      ['From: agent@example.org'],
      ['From: claw@example.org'],
      ['From: Ann <ann@example.com>, Eve <eve@example.com>'],
      ['To: agent@example.org'],
      ['To: agent+0123456789abcdef0123@example.org'],
      ['Authentication-Results: mx.example.org; dmarc=fail header.from=example.com'],
      ['Authentication-Results: mx.example.org; spf=pass smtp.mailfrom=eve@evil.test; dkim=none'],
    ]
    for (const headers of automatic) mail('Forged.', headers)
    // A stranger without proof of their address is not even told a code, so nobody is bothered in their name.
    mail('Let me in.', ['From: eve@example.com'])
    mail('Let me in.', [
      'From: eve@example.com',
      'Authentication-Results: mx.example.org; spf=softfail',
    ])
    // Who received the mail for somebody else, or only says so, proves nothing.
    for (const writer of [
      'evil.test',
      'mx.example.org.evil.test',
      '(mx.example.org) evil.test',
      '',
    ])
      mail('Let me in.', [
        'From: eve@example.com',
        `Authentication-Results: ${writer}; dmarc=pass header.from=example.com`,
        'Authentication-Results: mx.example.org; dmarc=none header.from=example.com',
      ])
    const last = mail('This one is mine.', ['Subject: Mine'])
    const [, answer] = await sent(2)
    expect(answer).toContain(last)
    expect(post.mails).toHaveLength(2)
    expect(await conversations()).toHaveLength(1)
    expect(upstream.requests).toHaveLength(before + 1)
    const { items } = (await server.call('GET', `/api/channels/${channelId}/senders`)).json.data
    expect(items).toMatchObject([{ external_id: 'ann@example.com', name: 'Ann', state: 'allowed' }])
    // The old address no longer works.
    const changed = await server.call('POST', `/api/channels/${channelId}/address-token`)
    expect(changed.json.data.address).not.toBe(address)
    mail('To the old one.')
    address = changed.json.data.address
    mail('To the new one.', ['Subject: New'])
    await sent(3)
    expect(asked()).toContain('To the new one.')
    expect(post.mails).toHaveLength(3)
  })

  test('with the name of the receiving server in the settings, only what it says of a sender counts', async () => {
    const settings = {
      imap: box.imap,
      address: 'agent@example.org',
      authserv_id: 'MX.provider.test',
    }
    const changed = await server.call('PATCH', `/api/channels/${channelId}`, { body: { settings } })
    expect(changed.json.data.settings).toMatchObject({ authserv_id: 'MX.provider.test' })
    mail('Let me in.')
    mail('Let me in.', [
      'From: Eve <eve@example.com>',
      PASSED,
      'Authentication-Results: mx.provider.test 1; dkim=pass header.d=example.com',
    ])
    const [code, ...others] = await sent(1)
    expect(code).toContain('To: eve@example.com')
    expect(others).toEqual([])
    const wrong = { ...settings, authserv_id: 'mx provider' }
    expect(
      (await server.call('PATCH', `/api/channels/${channelId}`, { body: { settings: wrong } }))
        .status,
    ).toBe(400)
  })

  test('the password of a mailbox stays when another field is changed, and does not go along to another server', async () => {
    const change = (imap: Record<string, unknown>) =>
      server.call('PATCH', `/api/channels/${channelId}`, { body: { settings: { imap } } })
    expect((await change({ host: 'elsewhere.example.org' })).status).toBe(400)
    expect((await change({ folder: 'INBOX' })).status).toBe(200)
    mail('hello')
    expect(await sent(1)).toHaveLength(1)
  })

  test('a stranger by email is not allowed without the code that proves their address', async () => {
    mail('Let me in.')
    await sent(1)
    const list = async () =>
      (await server.call('GET', `/api/channels/${channelId}/senders`)).json.data.items
    const [sender] = await list()
    const set = (state: string) =>
      server.call('PUT', `/api/channels/${channelId}/senders/${sender.id}`, { body: { state } })
    const refused = await set('allowed')
    expect(refused).toMatchObject({ status: 409, json: { reason: 'sender_not_paired' } })
    // Neither is blocking them a way around it.
    expect((await set('blocked')).status).toBe(200)
    expect((await set('allowed')).status).toBe(409)
    expect(await list()).toMatchObject([{ state: 'blocked', user_id: null }])
  })

  test('an account’s channels mail a bounded number of codes an hour, also when senders are forgotten in between', async () => {
    await pair()
    const eve = [PASSED, 'From: Eve <eve@example.com>']
    const senders = async () =>
      (await server.call('GET', `/api/channels/${channelId}/senders`)).json.data.items
    const forgetEve = async () => {
      const found = await eventually(async () => {
        const items: { id: string; external_id: string }[] = await senders()
        const one = items.find(({ external_id: id }) => id === 'eve@example.com')
        expect(one).toBeDefined()
        return one
      })
      await server.call('DELETE', `/api/channels/${channelId}/senders/${found?.id}`)
    }
    for (let codes = 2; codes <= 20; codes += 1) {
      mail('Let me in.', eve)
      await sent(codes)
      await forgetEve()
    }
    mail('Let me in.', eve)
    await forgetEve()
    mail('Let me in.', eve)
    await forgetEve()
    mail('Still mine.')
    const mails = await sent(21)
    expect(mails.at(-1)).toContain('It is 42.')
    expect(mails).toHaveLength(21)
  })

  test('attachments and pages are read as text from outside, and what a tool asks is decided by a link', async () => {
    program.current = ({ messages }) =>
      messages.at(-1)?.role === 'user'
        ? turn.toolCalls([{ id: 'call_1', name: 'message', arguments: { content: 'Tea.' } }])
        : turn.text('Sent.')
    await pair()
    mail(
      [
        '--b',
        'Content-Type: text/html; charset=utf-8',
        '',
        '<style>.x{}</style><p>Read <b>this</b>.</p><script>no()</script>',
        '--b',
        'Content-Type: text/plain; name="a.txt"',
        'Content-Disposition: attachment; filename="a.txt"',
        '',
        'the secret word is plum',
        '--b--',
      ].join('\n'),
      ['Content-Type: multipart/mixed; boundary=b'],
    )
    const [, card = ''] = await sent(2)
    expect(asked()).toContain('Read this.')
    expect(asked()).toContain('the secret word is plum')
    const token = /claw\.example\.org\/a\/([\w-]{43})/.exec(card.replaceAll('=\r\n', ''))?.[1]
    const decided = await server.call('POST', `/a/${token}`, {
      body: { decision: 'approve' },
      headers: { origin: 'https://claw.example.org' },
    })
    expect(decided.status).toBe(200)
    const mails = await sent(4)
    expect(mails[2]).toContain('Tea.')
    expect(mails[3]).toContain('Sent.')
  })

  test('of a mail that is a page and nothing else, its text is read', async () => {
    await pair()
    mail('<p>Read <b>this</b>.</p>', [PASSED, 'Content-Type: text/html; charset=utf-8'])
    await sent(2)
    expect(asked()).toContain('Read this.')
  })

  test('a test signs in to the mailbox and to the mail server, and says what is wrong with either', async () => {
    const tried = async (settings: Record<string, unknown>) =>
      (await server.call('POST', '/api/channels/test', { body: { type: 'email', settings } })).json
        .data
    const settings = { imap: box.imap, address: 'agent@example.org' }
    expect(await tried(settings)).toMatchObject({ ok: true, bot: 'agent@example.org' })
    expect(await tried({ to: 'ann@example.com' })).toMatchObject({ ok: true, bot: null })
    box.login.refused = true
    expect(await tried(settings)).toMatchObject({ ok: false, reason: 'channel_mailbox_refused' })
    expect(post.mails).toEqual([])
  })

  test('a mailbox that sends more than was asked for ends its connection only, and is read again', async () => {
    const uncaught: unknown[] = []
    const note = (error: unknown): void => void uncaught.push(error)
    process.on('uncaughtExceptionMonitor', note)
    onTestFinished(() => void process.off('uncaughtExceptionMonitor', note))
    for (const command of [/^EXAMINE/i, /^UID SEARCH/i]) {
      box.breaks.current = command
      box.drop()
      await eventually(() => expect(box.breaks.current).toBeNull())
    }
    await eventually(async () => expect(await channel()).toMatchObject({ state: 'receiving' }))
    await pair()
    expect(uncaught).toEqual([])
  })

  test('a mailbox that refuses the password says so, and settings that cannot receive are refused', async () => {
    box.login.refused = true
    box.drop()
    await eventually(async () =>
      expect(await channel()).toMatchObject({ state: 'error', reason: 'channel_mailbox_refused' }),
    )
    const refused = await server.call('POST', '/api/channels', {
      body: { type: 'email', name: 'out', settings: { to: 'ann@example.com' }, receive: {} },
    })
    expect(refused.status).toBe(400)
  })
})
