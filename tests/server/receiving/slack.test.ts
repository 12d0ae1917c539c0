// Slack from outside, against a scripted Web API and Socket Mode: envelopes that come again start nothing, buttons decide, files come in.
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { SLACK_TOKENS, startSlack } from '../../support/messengers/slack-api.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { type TestServer, useServers } from '../../support/server/server.ts'
import { DIALECTS } from '../../support/store/dialects.ts'
import { startReceiver } from '../messaging/receivers.ts'

const upstream = await useUpstream()
const { start } = useServers()
/** What the model does, unless a test replaces it. */
const program: { current: Parameters<typeof upstream.program>[0] } = {
  current: () => turn.text('It is **42** & [more](https://example.org).'),
}

describe.each(DIALECTS)('Slack on %s', (dialect) => {
  let server: TestServer
  let slack: Awaited<ReturnType<typeof startSlack>>
  beforeEach(async () => {
    program.current = () => turn.text('It is **42** & [more](https://example.org).')
    upstream.program((request) => program.current(request))
    slack = await startSlack()
    onTestFinished(() => slack.close())
    server = await start({
      dialect,
      config: {
        models: [{ id: 'scripted', api_url: upstream.url }],
        titles: 'off',
        slack: { api_url: slack.url },
        // Nothing but the origin keeps the token from other ports.
        network: { allow_private: ['127.0.0.1'] },
      },
    })
  })
  const connect = async (receive: Record<string, unknown> = {}) =>
    await server.call('POST', '/api/channels', {
      body: { type: 'slack', name: 'work', settings: SLACK_TOKENS, receive },
    })
  const conversations = async () => (await server.call('GET', '/api/conversations')).json.data.items
  const channel = async () => (await server.call('GET', '/api/channels')).json.data.items[0]
  const isOff = (id: string) => eventually(() => expect(slack.acknowledged.get(id)).toBe(3))
  /** Pairs the person who writes first. */
  const pair = async () => {
    await connect({ groups: 'mention' })
    await isOff(slack.say({ text: 'hello', ts: '1700000001.000100' }))
    expect(slack.texts()).toHaveLength(1)
    const code = /[A-HJ-NP-Z2-9]{8}/.exec(String(slack.texts()[0]))?.[0]
    expect((await server.call('POST', '/api/channels/pair', { body: { code } })).status).toBe(200)
  }

  test('a stranger gets one code, and then each message makes one run and one answer, however often it is sent', async () => {
    await pair()
    expect(await conversations()).toEqual([])
    const id = slack.say({ text: 'What is &lt;it&gt;, <@U5|bob>?', ts: '1700000002.000100' })
    await eventually(() =>
      expect(slack.texts()).toContain('It is *42* &amp; <https://example.org|more>.'),
    )
    await isOff(id)
    expect(slack.texts()).toHaveLength(2)
    const [conversation, ...others] = await conversations()
    expect(others).toEqual([])
    const { items: messages } = (
      await server.call('GET', `/api/conversations/${conversation.id}/messages`)
    ).json.data
    expect(messages.map(({ text }: { text: string }) => text)).toContain('What is <it>, @bob?')
    expect(await channel()).toMatchObject({ state: 'receiving', direction: 'both', error: null })
    const { items } = (await server.call('GET', `/api/channels/${(await channel()).id}/senders`))
      .json.data
    expect(items).toMatchObject([{ external_id: 'U77', name: 'Ann', state: 'allowed' }])
    // What the bot itself or another says, edits and joins start nothing.
    const ignored = [
      { user: 'UBOT', text: 'me', ts: '1700000003.000100' },
      { bot_id: 'B1', text: 'bot', ts: '1700000004.000100' },
      { subtype: 'channel_join', text: 'joined', ts: '1700000005.000100' },
      { subtype: 'message_changed', text: 'edited', ts: '1700000006.000100' },
    ].map((event) => slack.say(event))
    for (const one of ignored) await isOff(one)
    expect(slack.texts()).toHaveLength(2)
    expect(server.logged()).not.toContain(SLACK_TOKENS.bot_token)
    expect(server.logged()).not.toContain(SLACK_TOKENS.app_token)
    expect((await connect()).status).toBe(409)
  })

  test('in a group only a mention starts a run, once for both of its events, and a thread is a conversation of its own', async () => {
    await pair()
    const inGroup = { channel: 'C1', channel_type: 'channel' }
    await isOff(slack.say({ ...inGroup, text: 'aside', ts: '1700000002.000100' }))
    const mention = { ...inGroup, text: '<@UBOT> hello', ts: '1700000003.000100' }
    slack.say(mention)
    await isOff(slack.say({ ...mention, type: 'app_mention', channel_type: undefined }))
    await eventually(() => expect(slack.texts()).toHaveLength(2))
    const inThread = { ...inGroup, thread_ts: '1700000003.000100', parent_user_id: 'U77' }
    slack.say({ ...inThread, text: '<@UBOT> again', ts: '1700000004.000100' })
    await eventually(() => expect(slack.texts()).toHaveLength(3))
    expect(slack.of('chat.postMessage').map(({ body }) => body.thread_ts)).toEqual([
      undefined,
      undefined,
      '1700000003.000100',
    ])
    expect(await conversations()).toHaveLength(2)
    // A stranger in a group gets nothing, not even a code.
    await isOff(slack.say({ ...mention, user: 'U66', ts: '1700000005.000100' }))
    expect(slack.texts()).toHaveLength(3)
  })

  test('a button of the person decides the call, and the card then says so; a command of the app is one', async () => {
    program.current = ({ messages }) =>
      messages.at(-1)?.role === 'user'
        ? turn.toolCalls([{ id: 'call_1', name: 'message', arguments: { content: 'Tea.' } }])
        : turn.text('Sent.')
    await pair()
    slack.say({ text: 'Write that I like tea.', ts: '1700000002.000100' })
    const card = await eventually(() => {
      const found = slack.of('chat.postMessage').find(({ body }) => body.blocks !== undefined)
      expect(found).toBeDefined()
      return found
    })
    const [, actions] = Object(card?.body).blocks
    const approve = String(actions.elements[0].value)
    expect(approve.length).toBeLessThanOrEqual(40)
    await isOff(slack.press('U66', approve))
    await isOff(slack.press('U77', approve))
    await eventually(() => expect(slack.texts()).toContain('Sent.'))
    const [update] = await eventually(() => {
      expect(slack.of('chat.update').some(({ body }) => body.blocks !== undefined)).toBe(true)
      return slack.of('chat.update').filter(({ body }) => body.blocks !== undefined)
    })
    expect(JSON.stringify(update?.body)).not.toContain('"actions"')
    const { items } = (await server.call('GET', '/api/approvals?state=decided')).json.data
    expect(items).toMatchObject([{ state: 'approved', decided_through: 'channel:work' }])
    await isOff(
      slack.give('slash_commands', {
        command: '/nanoclaw',
        text: 'status',
        user_id: 'U77',
        channel_id: 'D1',
        trigger_id: 't1',
      }),
    )
    await eventually(() => expect(slack.texts().at(-1)).toContain('Nothing'))
  })

  test('files come in with the token of the bot, and never from elsewhere', async () => {
    const elsewhere = await startReceiver()
    await pair()
    slack.files.set('/files/a.txt', Buffer.from('the secret word is plum'))
    slack.say({
      subtype: 'file_share',
      text: 'Read this.',
      ts: '1700000002.000100',
      files: [
        {
          name: 'a.txt',
          mimetype: 'text/plain',
          url_private_download: `${slack.base}/files/a.txt`,
        },
        { name: 'b.txt', mimetype: 'text/plain', url_private_download: `${elsewhere.url}/b` },
        {
          name: 'c.txt',
          mimetype: 'text/plain',
          url_private_download: `${slack.base}/moved?to=${elsewhere.url}/c`,
        },
        {
          name: 'd.txt',
          mimetype: 'text/plain',
          url_private_download: `${elsewhere.url.replace('//', '//slack.com@')}/d`,
        },
      ],
    })
    await eventually(() => expect(slack.texts()).toHaveLength(2))
    // The token of the bot is for the origin of the API only, not even for another port of its host.
    expect(elsewhere.received).toEqual([])
    const asked = JSON.stringify(upstream.requests.at(-1)?.body)
    expect(asked).toContain('the secret word is plum')
    for (const name of ['b', 'c', 'd'])
      expect(asked).toContain(`The file ${name}.txt could not be received.`)
  })

  test('a command is obeyed while a file that came before it is still being received', async () => {
    await pair()
    slack.files.set('/files/slow.txt', Buffer.from('at last'))
    let give = () => {}
    slack.held.files = new Promise((resolve) => {
      give = resolve
    })
    const file = { name: 'slow.txt', url_private_download: `${slack.base}/files/slow.txt` }
    slack.say({ subtype: 'file_share', text: '', ts: '1700000002.000100', files: [file] })
    const status = { command: '/nanoclaw', text: 'status', user_id: 'U77', channel_id: 'D1' }
    await isOff(slack.give('slash_commands', { ...status, trigger_id: 't1' }))
    await eventually(() => expect(slack.texts()).toHaveLength(2))
    give()
    await eventually(() => expect(slack.texts()).toHaveLength(3))
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('at last')
  })

  test('an audio clip is a voice message, and an uploaded sound file is not', async () => {
    await pair()
    slack.files.set('/files/clip', Buffer.concat([Buffer.from('fLaC'), Buffer.alloc(200)]))
    const clip = { mimetype: 'audio/flac', url_private_download: `${slack.base}/files/clip` }
    slack.say({
      subtype: 'file_share',
      text: '',
      ts: '1700000002.000100',
      files: [
        { ...clip, name: 'audio_message', subtype: 'slack_audio' },
        { ...clip, name: 'song.flac' },
      ],
    })
    await eventually(() => expect(slack.texts()).toHaveLength(2))
    const [{ id }] = await conversations()
    const { items } = (await server.call('GET', `/api/conversations/${id}/messages`)).json.data
    const sent = items.flatMap(({ attachments = [] }: { attachments?: object[] }) => attachments)
    expect(sent).toMatchObject([
      { name: 'audio_message', mime: 'audio/flac', reason: 'recording_speech_off' },
      { name: 'song.flac', mime: 'audio/flac', reason: 'recording_unheard' },
    ])
  })

  test('it connects again when Slack asks for it or the connection is lost, and what it was not told before comes then', async () => {
    await pair()
    slack.refresh()
    await eventually(() => expect(slack.connections()).toBe(2))
    slack.drop()
    slack.say({ text: 'While you were away.', ts: '1700000002.000100' })
    await eventually(() => expect(slack.texts()).toHaveLength(2))
    expect(await channel()).toMatchObject({ state: 'receiving' })
  })

  test('a test says for whom the tokens are good, or which of them Slack refuses', async () => {
    const tried = async () =>
      (
        await server.call('POST', '/api/channels/test', {
          body: { type: 'slack', settings: SLACK_TOKENS },
        })
      ).json.data
    expect(await tried()).toMatchObject({ ok: true, bot: '@nano (Acme)' })
    expect(slack.connections()).toBe(1)
    slack.refusals.set('apps.connections.open', 'missing_scope')
    expect(await tried()).toMatchObject({ ok: false, reason: 'channel_app_token_refused' })
    slack.refusals.set('apps.connections.open', 'socket_mode_not_enabled')
    expect(await tried()).toMatchObject({ ok: false, reason: 'channel_socket_mode_off' })
    slack.refusals.set('auth.test', 'invalid_auth')
    expect(await tried()).toMatchObject({ ok: false, reason: 'channel_bot_token_refused' })
    expect(await channel()).toBeUndefined()
    expect(slack.texts()).toEqual([])
  })

  test('an app that Slack refuses says so, and is tried again when the channel is changed', async () => {
    slack.refusals.set('apps.connections.open', 'invalid_auth')
    const { id } = (await connect()).json.data
    await eventually(async () =>
      expect(await channel()).toMatchObject({ state: 'error', reason: 'channel_bot_refused' }),
    )
    slack.refusals.clear()
    await server.call('PATCH', `/api/channels/${id}`, { body: { name: 'again' } })
    await eventually(async () => expect(await channel()).toMatchObject({ state: 'receiving' }))
  })
})
