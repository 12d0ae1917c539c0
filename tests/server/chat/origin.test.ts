// Where messages and runs come from: a person at the page, or a program with an API key.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server/server.ts'

const upstream = await useUpstream()
const PAGE = { type: 'page' }
const API = { type: 'api' }

describeOnEachServer('where messages come from', (start) => {
  let server: TestServer
  let person: string
  let key: string
  beforeAll(async () => {
    server = await start({
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
    })
    person = await register(server, 'ann')
    const { json } = await server.call('POST', '/api/auth/keys', {
      token: person,
      body: { name: 'program' },
    })
    key = json.data.key
  })
  beforeEach(() => upstream.program(() => turn.text('Hello.')))

  const conversation = async (): Promise<string> =>
    (await server.call('POST', '/api/conversations', { token: person, body: {} })).json.data.id
  const messages = async (id: string) =>
    (await server.call('GET', `/api/conversations/${id}/messages`, { token: person })).json.data
      .items
  const send = async (id: string, token: string) => {
    const path = `/api/conversations/${id}/messages`
    return await server.call('POST', path, { token, body: { text: 'Hi', stream: false } })
  }

  test('a message that the agent sends to another conversation comes from where its run came from', async () => {
    const [from, to] = [await conversation(), await conversation()]
    const message = { name: 'message', arguments: { content: 'News.', to } }
    upstream.reset()
    upstream.enqueue(turn.toolCalls([message]), turn.text('Sent.'))
    const { json } = await server.call('POST', `/api/conversations/${from}/messages`, {
      token: key,
      body: { text: 'Tell them', stream: false, approval: 'auto' },
    })
    expect(json.data.message.text).toBe('Sent.')
    expect(await messages(to)).toMatchObject([{ role: 'assistant', origin: API }])
  })

  test('a message and its run say whether a person or a program sent them, in lists, alone, in the stream and in exports', async () => {
    const id = await conversation()
    const byPerson = await send(id, person)
    expect(byPerson.json.data).toMatchObject({ message: { origin: PAGE }, run: { origin: PAGE } })
    const byProgram = await send(id, key)
    const { message, run } = byProgram.json.data
    expect([message.origin, run.origin]).toEqual([API, API])
    const origins = (await messages(id)).map(({ origin }: { origin: unknown }) => origin)
    expect(origins).toEqual([PAGE, PAGE, API, API])

    const regenerate = `/api/conversations/${id}/regenerate/${message.id}`
    const again = await server.call('POST', regenerate, { token: person, body: { stream: false } })
    expect(again.json.data.message.origin).toEqual(PAGE)
    const changed = `/api/conversations/${id}/messages/${(await messages(id))[2].id}`
    const edit = await server.call('PATCH', changed, {
      token: key,
      body: { text: 'Hello', stream: false },
    })
    expect(edit.json.data.message.origin).toEqual(API)

    const stream = await openEvents(`${server.url}/api/conversations/${id}/messages`, {
      body: { text: 'Hi' },
      headers: { authorization: `Bearer ${key}` },
    })
    const { data } = await stream.next(({ event }) => event === 'run')
    expect(data.origin).toEqual(API)
    stream.leave()

    const exported = await server.call('GET', `/api/conversations/${id}/export?format=json`, {
      token: person,
    })
    const imported = await server.call('POST', '/api/conversations/import', {
      token: person,
      body: exported.json,
    })
    const copied = (await messages(imported.json.data.id)).map(
      ({ origin }: { origin: unknown }) => origin,
    )
    expect(copied).toEqual((await messages(id)).map(({ origin }: { origin: unknown }) => origin))
    expect(copied).toContainEqual(API)
  })

  test('an import keeps what kind of thing a message came from, and no id or sender of the other server', async () => {
    const id = await conversation()
    await send(id, person)
    const { json } = await server.call('GET', `/api/conversations/${id}/export?format=json`, {
      token: person,
    })
    const sender = { id: '1', external_id: '42', name: 'Mallory' }
    const given = JSON.parse(JSON.stringify(json))
    given.messages[0].origin = { type: 'channel', id: 'c1', name: 'Phone', sender }
    const imported = await server.call('POST', '/api/conversations/import', {
      token: person,
      body: given,
    })
    const [question] = await messages(imported.json.data.id)
    expect(question.origin).toEqual({ type: 'channel', name: 'Phone' })
  })

  test('a request of a program to /v1 is of origin api', async () => {
    await server.call('POST', '/v1/chat/completions', {
      token: key,
      body: { model: 'scripted', messages: [{ role: 'user', content: 'Hi' }], store: true },
    })
    const runs = await server.call('GET', '/api/runs', { token: person })
    const [latest] = runs.json.data.items
    const run = await server.call('GET', `/api/runs/${latest.id}`, { token: person })
    expect(run.json.data.origin).toEqual(API)
  })
})
