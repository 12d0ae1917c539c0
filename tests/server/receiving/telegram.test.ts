// Telegram from outside, against a scripted Bot API: updates that come again start nothing, buttons decide, and a bot that is refused says so.
import { beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { startBotApi, TELEGRAM_TOKEN as TOKEN } from '../../support/messengers/telegram-api.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { type TestServer, useServers } from '../../support/server/server.ts'
import { DIALECTS } from '../../support/store/dialects.ts'

const upstream = await useUpstream()
const { start } = useServers()

/** What the model does, unless a test replaces it. */
const program: { current: Parameters<typeof upstream.program>[0] } = {
  current: () => turn.text('It is **42**.'),
}

const ANN = { id: 77, is_bot: false, first_name: 'Ann' }
const privately = { id: 77, type: 'private' }
const written = (update: number, text: string, more: Record<string, unknown> = {}) => ({
  update_id: update,
  message: { message_id: update, from: ANN, chat: privately, text, ...more },
})

describe.each(DIALECTS)('Telegram on %s', (dialect) => {
  let server: TestServer
  let api: Awaited<ReturnType<typeof startBotApi>>
  beforeEach(async () => {
    program.current = () => turn.text('It is **42**.')
    upstream.program((request) => program.current(request))
    api = await startBotApi()
    server = await start({
      dialect,
      config: {
        models: [{ id: 'scripted', api_url: upstream.url }],
        titles: 'off',
        telegram: { api_url: api.url },
      },
    })
  })
  const connect = async (
    settings: Record<string, unknown> = {},
    receive: Record<string, unknown> = {},
  ) =>
    (
      await server.call('POST', '/api/channels', {
        body: {
          type: 'telegram',
          name: 'phone',
          settings: { bot_token: TOKEN, ...settings },
          receive,
        },
      })
    ).json.data
  const texts = () => api.of('sendMessage').map(({ body }) => body.text)
  const conversations = async () => (await server.call('GET', '/api/conversations')).json.data.items
  const channel = async () => (await server.call('GET', '/api/channels')).json.data.items[0]

  test('an update that comes three times makes one run and one answer, also when its formatting is refused', async () => {
    api.refusals.set('HTML', 400)
    api.updates.push(written(5, 'What is it?'))
    await connect({ chat_id: 77 })
    await eventually(() => expect(texts()).toContain('It is **42**.'))
    await eventually(() =>
      expect(
        api.of('getUpdates').filter(({ body }) => body.offset === 6).length,
      ).toBeGreaterThanOrEqual(3),
    )
    expect(texts().filter((text) => text === 'It is **42**.')).toHaveLength(1)
    const formatted = api.of('sendMessage').find(({ body }) => body.parse_mode === 'HTML')
    expect(formatted?.body.text).toBe('It is <b>42</b>.')
    expect(await conversations()).toHaveLength(1)
    expect(await channel()).toMatchObject({ state: 'receiving', direction: 'both', error: null })
    // Nothing was confirmed before it was stored.
    expect(api.of('getUpdates')[0]?.body.offset).toBeUndefined()
    const second = await server.call('POST', '/api/channels', {
      body: { type: 'telegram', name: 'again', settings: { bot_token: TOKEN }, receive: {} },
    })
    expect(second.status).toBe(409)
    expect(server.logged()).not.toContain(TOKEN)
  })

  test('a voice message that nothing transcribes is attached, and the model is told so', async () => {
    const voice = Buffer.concat([Buffer.from('OggS'), Buffer.alloc(500, 1)])
    api.answers.set('getFile', { file_path: 'voice/file_7.oga' })
    api.files.set('file_7.oga', voice)
    const { text: _, ...message } = written(5, '').message
    api.updates.push({ update_id: 5, message: { ...message, voice: { file_id: 'v1' } } })
    await connect({ chat_id: 77 })
    await eventually(() => expect(texts()).toContain('It is <b>42</b>.'))
    const [{ id }] = await conversations()
    const [asked] = (await server.call('GET', `/api/conversations/${id}/messages`)).json.data.items
    const [attachment] = asked.attachments
    expect(attachment).toMatchObject({
      name: 'voice.ogg',
      mime: 'audio/ogg',
      reason: 'recording_speech_off',
    })
    const heard = await fetch(server.url + attachment.url)
    expect(Buffer.from(await heard.arrayBuffer())).toEqual(voice)
    const told = JSON.stringify(upstream.requests.at(-1)?.messages)
    expect(told).toContain('a recording, which you cannot hear')
  })

  test('the owner whom the settings name is known in a group, too, before they have written privately; nobody else is', async () => {
    const group = { id: -500, type: 'supergroup', title: 'Team' }
    const bob = { id: 78, is_bot: false, first_name: 'Bob' }
    const asked = (update: number, from: unknown) =>
      written(update, '@nano_bot what is it?', { from, chat: group })
    await connect({ chat_id: 77 }, { groups: 'mention' })
    api.updates.push(asked(5, bob), asked(6, ANN))
    await eventually(() => expect(texts()).toEqual(['It is <b>42</b>.']))
    expect(api.of('sendMessage')[0]?.body.chat_id).toBe('-500')
    expect(await conversations()).toHaveLength(1)
  })

  test('whoever sends something of a kind that cannot be read is told so once, and it starts nothing; joining a group is no message', async () => {
    const { text: _, ...message } = written(5, '').message
    const kinds = { sticker: {}, video_note: { file_id: 'v' }, video: { file_id: 'w' }, poll: {} }
    const sent = Object.entries(kinds).map(([kind, content], index) => ({
      update_id: 5 + index,
      message: { ...message, message_id: 5 + index, [kind]: content },
    }))
    const joined = { update_id: 20, message: { ...message, new_chat_members: [ANN] } }
    api.updates.push(...sent, joined)
    await connect({ chat_id: 77 })
    await eventually(() =>
      expect(
        api.of('getUpdates').filter(({ body }) => body.offset === 21).length,
      ).toBeGreaterThanOrEqual(3),
    )
    expect(new Set(texts())).toEqual(
      new Set([
        'This kind of message can’t be read here. Send text, images, documents or recordings.',
      ]),
    )
    // Once a minute, and one may begin meanwhile.
    expect(texts().length).toBeLessThanOrEqual(2)
    expect(await conversations()).toEqual([])
    expect(api.of('getFile')).toEqual([])
  })

  test('a place is told as text, a contact as text from outside, and of a video its text', async () => {
    const { text: _, ...message } = written(5, '').message
    const place = { latitude: 48.85, longitude: 2.35 }
    const contact = { phone_number: '+33 1 23', first_name: 'Jean', last_name: 'Petit' }
    api.updates.push(
      { update_id: 5, message: { ...message, location: place } },
      { update_id: 6, message: { ...message, contact } },
      { update_id: 7, message: { ...message, video: { file_id: 'v' }, caption: 'Where is it?' } },
      {
        update_id: 8,
        message: { ...message, venue: { location: place, title: '/new', address: 'Rue 1' } },
      },
    )
    await connect({ chat_id: 77 })
    await eventually(() => expect(texts()).toContain('It is <b>42</b>.'))
    const [{ id }] = await conversations()
    const { items } = (await server.call('GET', `/api/conversations/${id}/messages`)).json.data
    const asked = items.filter(({ role }: { role: string }) => role === 'user')
    const said = asked.map(({ text }: { text: string }) => text).join('\n')
    expect(said).toContain('geo:48.85,2.35')
    expect(said).toContain('Where is it?')
    expect(said).toContain('could not be received')
    // What others have called a place is neither a command nor the person's own text.
    expect(said).not.toContain('/new')
    expect(said).not.toContain('Jean')
    expect(texts().join()).toContain('can’t be read here')
    expect(JSON.stringify(upstream.requests.at(-1)?.messages)).toContain('Jean Petit +33 1 23')
  })

  test('a command is obeyed while a file that came before it is still being received', async () => {
    api.answers.set('getFile', { file_path: 'documents/slow.txt' })
    api.files.set('slow.txt', Buffer.from('at last'))
    let give = () => {}
    api.held.files = new Promise((resolve) => {
      give = resolve
    })
    api.updates.push(written(5, 'What is it?'))
    await connect({ chat_id: 77 })
    await eventually(() => expect(texts()).toEqual(['It is <b>42</b>.']))
    const { text: _, ...message } = written(6, '').message
    const document = { file_id: 'd', file_name: 'slow.txt' }
    api.updates.push({ update_id: 6, message: { ...message, document } })
    await eventually(() => expect(api.of('getFile')).not.toEqual([]))
    api.updates.push(written(7, '/status'))
    await eventually(() => expect(texts()).toHaveLength(2))
    give()
    await eventually(() => expect(texts()).toHaveLength(3))
    await eventually(() =>
      expect(
        api.of('getUpdates').filter(({ body }) => body.offset === 8).length,
      ).toBeGreaterThanOrEqual(2),
    )
    // The command was given again with the file, and was known.
    expect(texts()).toHaveLength(3)
    expect(JSON.stringify(upstream.requests.at(-1)?.messages)).toContain('at last')
  })

  test('why there is no answer is said in the language of the question', async () => {
    program.current = () => turn.error(401, 'No such key.')
    api.updates.push(written(5, 'Was ist das, und wie heißt es?'))
    await connect({ chat_id: 77 })
    await eventually(() => expect(texts().join()).toContain('Der Anbieter sagt: No such key.'))
    expect(texts().join()).not.toContain('The provider')
  })

  test('a stranger gets a code and nothing else, and a button of the person decides the call', async () => {
    program.current = ({ messages }) =>
      messages.at(-1)?.role === 'user'
        ? turn.toolCalls([{ id: 'call_1', name: 'message', arguments: { content: 'Tea.' } }])
        : turn.text('Sent.')
    await connect()
    api.updates.push(written(5, 'secret'), written(6, 'secret'))
    await eventually(() => expect(texts()).toHaveLength(1))
    const code = /[A-HJ-NP-Z2-9]{8}/.exec(String(texts()[0]))?.[0]
    expect((await server.call('POST', '/api/channels/pair', { body: { code } })).status).toBe(200)
    api.updates.push(written(7, 'Write that I like tea.'))
    await eventually(() =>
      expect(api.of('sendMessage').some(({ body }) => body.reply_markup !== undefined)).toBe(true),
    )
    const card = api.of('sendMessage').find(({ body }) => body.reply_markup !== undefined)
    const [[approve]] = Object(card?.body.reply_markup).inline_keyboard
    expect(approve.callback_data.length).toBeLessThanOrEqual(40)
    const message = { message_id: 102, from: { id: 123456, is_bot: true }, chat: privately }
    const pressed = (update: number, from: unknown) => ({
      update_id: update,
      callback_query: { id: `q${update}`, from, data: approve.callback_data, message },
    })
    api.updates.push(pressed(8, { ...ANN, id: 78 }), pressed(9, ANN))
    await eventually(() => expect(texts()).toContain('Sent.'))
    await eventually(() => expect(api.of('editMessageText').length).toBeGreaterThan(0))
    expect(api.of('answerCallbackQuery').length).toBeGreaterThan(0)
    const { items } = (await server.call('GET', '/api/approvals?state=decided')).json.data
    expect(items.map((one: Record<string, unknown>) => [one.state, one.decided_through])).toEqual([
      ['approved', 'channel:phone'],
    ])
    expect(await conversations()).toHaveLength(1)
  })

  test('what a message did to the files of a conversation without a project is undone with a button', async () => {
    const write = { path: 'tea.txt', content: 'Tea.' }
    program.current = ({ messages }) =>
      messages.at(-1)?.role === 'user'
        ? turn.toolCalls([{ id: 'call_1', name: 'file_write', arguments: write }])
        : turn.text('Written.')
    await connect({ chat_id: 77 })
    /** Presses the first button of the newest message that has some. */
    const press = async (update: number, count: number): Promise<void> => {
      const withButtons = () =>
        api.of('sendMessage').filter(({ body }) => body.reply_markup !== undefined)
      await eventually(() => expect(withButtons()).toHaveLength(count))
      const [[first]] = Object(withButtons().at(-1)?.body.reply_markup).inline_keyboard
      const message = { message_id: 102, from: { id: 123456, is_bot: true }, chat: privately }
      const query = { id: `q${update}`, from: ANN, data: first.callback_data, message }
      api.updates.push({ update_id: update, callback_query: query })
    }
    api.updates.push(written(5, 'Write it down.'))
    await press(6, 1)
    await eventually(() => expect(texts()).toContain('Written.'))
    const [{ scratch_project_id: files }] = await conversations()
    const paths = async () =>
      (await server.call('GET', `/api/projects/${files}/files`)).json.data.files.map(
        ({ path }: { path: string }) => path,
      )
    expect(await paths()).toEqual(['tea.txt'])
    api.updates.push(written(7, '/undo'))
    await press(8, 2)
    await eventually(async () => expect(await paths()).toEqual([]))
    await eventually(() =>
      expect(api.of('editMessageText').map(({ body }) => body.text)).toContain(
        'Restored. Changed files: 1',
      ),
    )
  })

  test('files that the answer links, and what was written into the folder output, follow it as documents, once', async () => {
    const files = { 'notes.md': '# Tea', 'output/table.json': '[1]', 'draft.txt': 'Not sent.' }
    program.current = ({ messages }) =>
      messages.at(-1)?.role === 'user'
        ? turn.toolCalls(
            Object.entries(files).map(([path, content], index) => ({
              id: `call_${index}`,
              name: 'file_write',
              arguments: { path, content },
            })),
          )
        : turn.text('See [the notes](notes.md) and [a page](https://example.org/notes.md).')
    const { json } = await server.call('POST', '/api/projects', { body: { name: 'Tea' } })
    const receive = { project_id: json.data.id, approval: 'auto' }
    await connect({ chat_id: 77 }, receive)
    api.updates.push(written(5, 'Write it down.'))
    await eventually(() => expect(api.of('sendDocument')).toHaveLength(2))
    const sent = api.of('sendDocument').map(({ body }) => body)
    expect(sent.map(({ chat_id }) => chat_id)).toEqual(['77', '77'])
    const documents = sent.map(({ document }) => document as File) // what a form holds besides texts
    const contents = await Promise.all(documents.map((one) => one.text()))
    expect(documents.map(({ name, type }, index) => [name, type, contents[index]])).toEqual([
      ['table.json', 'application/json', '[1]'],
      ['notes.md', 'text/markdown', '# Tea'],
    ])
    const isAnswer = ({ method, body }: { method: string; body: Record<string, unknown> }) =>
      method === 'sendMessage' && String(body.text).startsWith('See ')
    const order = api.calls.filter((one) => isAnswer(one) || one.method === 'sendDocument')
    expect(order.map(({ method }) => method)).toEqual([
      'sendMessage',
      'sendDocument',
      'sendDocument',
    ])
    // The next answer brings only what belongs to it.
    program.current = () => turn.text('Nothing new.')
    api.updates.push(written(6, 'And now?'))
    await eventually(() => expect(texts()).toContain('Nothing new.'))
    // Documents follow their answer, and precede the next one.
    program.current = () => turn.text('Nothing at all.')
    api.updates.push(written(7, 'And then?'))
    await eventually(() => expect(texts()).toContain('Nothing at all.'))
    expect(api.of('sendDocument')).toHaveLength(2)
  })

  test('in a group, a person who names exactly this bot is answered, with the message to which they reply as text from outside', async () => {
    await connect({ chat_id: 77 }, { groups: 'mention' })
    api.updates.push(written(5, 'Hello.'))
    await eventually(() => expect(texts()).toHaveLength(1))
    const chat = { id: -500, type: 'supergroup', title: 'Team' }
    const from = { id: 201, is_bot: false, first_name: 'Gus' }
    api.updates.push(
      written(6, '@nano_bot2 is another bot.', { chat }),
      written(7, 'Is that true, @Nano_Bot?', {
        chat,
        reply_to_message: { message_id: 4, from, text: 'The sky is green.' },
      }),
    )
    await eventually(() => expect(texts()).toHaveLength(2))
    const asked = String(upstream.requests.at(-1)?.messages.at(-1)?.content)
    expect(asked).toContain('<file name="message.txt">\nThe sky is green.\n</file>')
    expect(
      upstream.requests.some(
        ({ messages }) => messages.at(-1)?.content === '@nano_bot2 is another bot.',
      ),
    ).toBe(false)
    expect(await conversations()).toHaveLength(2)
    api.updates.push(written(8, '/status@nano_bot', { chat }))
    await eventually(() => expect(texts().at(-1)).toContain('Nothing is running.'))
  })

  test('of a file that is too large, the message says so in the language of its text', async () => {
    await connect({ chat_id: 77 })
    const document = { file_id: 'd1', file_name: 'film.mkv', file_size: 30_000_000 }
    const caption = 'Was ist das, und wie heißt es?'
    api.updates.push(written(5, '', { text: undefined, caption, document }))
    await eventually(() => expect(texts()).toContain('It is <b>42</b>.'))
    expect(JSON.stringify(upstream.requests.at(-1)?.messages)).toContain(
      'Die Datei film.mkv konnte nicht empfangen werden.',
    )
    expect(api.of('getFile')).toEqual([])
  })

  test('the commands for a project and a model name what there is, also without a name', async () => {
    await connect({ chat_id: 77 })
    const said = async (update: number, command: string): Promise<unknown> => {
      api.updates.push(written(update, command))
      await eventually(() => expect(texts()).toHaveLength(update - 4))
      return texts().at(-1)
    }
    expect(await said(5, '/project')).toBe('You have no projects yet.')
    await server.call('POST', '/api/projects', { body: { name: 'Tea' } })
    expect(await said(6, '/project')).toBe('Your projects: Tea')
    expect(await said(7, '/project Ale')).toBe('There is no project “Ale”. Your projects: Tea')
    expect(await said(8, '/model')).toBe('You can use: scripted')
  })

  test('a test says who the bot is, or in words why it cannot be used, and stores nothing', async () => {
    const tried = async (settings: Record<string, unknown>) =>
      (await server.call('POST', '/api/channels/test', { body: { type: 'telegram', settings } }))
        .json.data
    const settings = { bot_token: TOKEN }
    expect(await tried(settings)).toEqual({
      ok: true,
      bot: '@nano_bot',
      error: null,
      reason: null,
      params: null,
    })
    api.refusals.set('getChat', 400)
    expect(await tried({ ...settings, chat_id: 5 })).toMatchObject({
      ok: false,
      reason: 'channel_chat_unknown',
    })
    api.refusals.set('getMe', 401)
    expect(await tried(settings)).toMatchObject({ ok: false, reason: 'channel_bot_refused' })
    api.refusals.clear()
    api.answers.set('getWebhookInfo', { url: 'https://elsewhere.example.org/hook' })
    expect(await tried(settings)).toMatchObject({ ok: false, reason: 'channel_bot_conflict' })
    const wrong = { type: 'telegram', settings: { bot_token: 'x' } }
    expect((await server.call('POST', '/api/channels/test', { body: wrong })).status).toBe(400)
    expect(await channel()).toBeUndefined()
    expect(texts()).toEqual([])
    expect(server.logged()).not.toContain(TOKEN)
    // A stored one is tried with what is stored.
    const { id } = await connect()
    expect((await server.call('POST', `/api/channels/${id}/test`)).json.data.ok).toBe(false)
    api.answers.clear()
    expect((await server.call('POST', `/api/channels/${id}/test`)).json.data.bot).toBe('@nano_bot')
    expect((await server.call('POST', '/api/channels/none/test')).status).toBe(404)
  })

  test('after sixty tests in an hour an account waits, because each connects to a service of its choice', async () => {
    const body = { type: 'telegram', settings: { bot_token: TOKEN } }
    for (let count = 0; count < 60; count += 1)
      expect((await server.call('POST', '/api/channels/test', { body })).status).toBe(200)
    const refused = await server.call('POST', '/api/channels/test', { body })
    expect(refused).toMatchObject({ status: 429, json: { reason: 'channel_tests_exhausted' } })
    expect(api.of('getMe')).toHaveLength(60)
  })

  test('a bot that is refused, or received elsewhere, says so, and is tried again when the channel is changed', async () => {
    api.refusals.set('getMe', 401)
    const { id } = await connect()
    await eventually(async () =>
      expect(await channel()).toMatchObject({ state: 'error', reason: 'channel_bot_refused' }),
    )
    api.refusals.delete('getMe')
    // Any change is a reason to ask the service again; later, what works goes on.
    await server.call('PATCH', `/api/channels/${id}`, { body: { name: 'again' } })
    await eventually(async () => expect(await channel()).toMatchObject({ state: 'receiving' }))
    const renamed = await server.call('PATCH', `/api/channels/${id}`, { body: { name: 'other' } })
    expect(renamed.json.data).toMatchObject({ name: 'other', state: 'receiving' })
    api.refusals.set('getUpdates', 409)
    await server.call('PATCH', `/api/channels/${id}`, { body: { settings: { bot_token: TOKEN } } })
    await eventually(async () =>
      expect(await channel()).toMatchObject({ state: 'conflict', reason: 'channel_bot_conflict' }),
    )
  })
})
