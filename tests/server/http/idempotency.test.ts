// Idempotency-Key, HEAD, and errors: what every client may rely on.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import {
  databaseKeys,
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../support/server/server.ts'
import { useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'

const upstream = await useUpstream()

describeOnEachServer('Idempotency-Key', (start) => {
  let server: TestServer
  let token: string
  beforeAll(async () => {
    server = await start({
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
    })
    token = await register(server, 'someone')
  })
  const post = (path: string, body: object, key: string) =>
    server.call('POST', path, { body, token, headers: { 'idempotency-key': key } })

  test('a repeated creation gets the first response and creates nothing', async () => {
    const twice = await Promise.all([
      post('/api/projects', { name: 'Once' }, 'project-1'),
      post('/api/projects', { name: 'Once' }, 'project-1'),
    ])
    const again = await post('/api/projects', { name: 'Once' }, 'project-1')
    const created = twice.filter(({ status }) => status === 200)
    expect(created.length).toBeGreaterThan(0)
    for (const { status } of twice) expect([200, 409]).toContain(status)
    expect(again.status).toBe(200)
    expect(again.json).toEqual(created[0]?.json)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    const { json } = await server.call('GET', '/api/projects', { token })
    expect(json.data.items).toHaveLength(1)
  })

  test('a different request with the same key is refused, and a failed request can be repeated', async () => {
    await post('/api/projects', { name: 'First' }, 'project-2')
    const other = await post('/api/projects', { name: 'Second' }, 'project-2')
    expect(other).toMatchObject({ status: 409, json: { reason: 'idempotency_key_reused' } })
    const taken = await post('/api/projects', { name: 'First' }, 'project-3')
    expect(taken.status).toBe(409)
    const retried = await post('/api/projects', { name: 'Third' }, 'project-3')
    expect(retried.status).toBe(200)
    expect((await post('/api/projects', { name: 'x' }, 'k'.repeat(256))).status).toBe(400)
  })

  test('an upload with the same key replays only for the same content, whatever its boundary', async () => {
    const upload = async (path: string, parts: [string, string | Blob][]) => {
      const form = new FormData()
      for (const [name, value] of parts)
        if (typeof value === 'string') form.append(name, value)
        else form.append(name, value, 'a.txt')
      const headers = { authorization: `Bearer ${token}`, 'idempotency-key': `upload ${path}` }
      const response = await fetch(server.url + path, { method: 'POST', body: form, headers })
      return { status: response.status, json: JSON.parse(await response.text()) }
    }
    const { json: project } = await post('/api/projects', { name: 'Uploads' }, 'for-uploads')
    const paths = {
      '/api/files': 'file',
      [`/api/projects/${project.data.id}/files`]: 'files[]',
      [`/api/projects/${project.data.id}/documents`]: 'files[]',
    }
    for (const [path, field] of Object.entries(paths)) {
      const first = await upload(path, [[field, new Blob(['one two'])]])
      expect(first.status, path).toBe(200)
      expect(await upload(path, [[field, new Blob(['one two'])]]), path).toEqual(first)
      const other = await upload(path, [[field, new Blob(['one 2.0'])]])
      expect(other, path).toMatchObject({ status: 409, json: { reason: 'idempotency_key_reused' } })
    }
  })

  test('keys of different users are independent', async () => {
    const other = await register(server, 'someone-else')
    const headers = { 'idempotency-key': 'shared' }
    const body = { title: 'Mine' }
    const one = await server.call('POST', '/api/conversations', { body, headers, token })
    const two = await server.call('POST', '/api/conversations', { body, headers, token: other })
    expect(two.json.data.id).not.toBe(one.json.data.id)
  })

  test('a repeated chat completion or message joins the existing run', async () => {
    upstream.enqueue(turn.text('Once.'))
    const body = { model: 'nanoclaw', messages: [{ role: 'user', content: 'Hello' }] }
    const [first, second] = [
      await post('/v1/chat/completions', body, 'chat-1'),
      await post('/v1/chat/completions', body, 'chat-1'),
    ]
    expect(first.json).toMatchObject({ choices: [{ message: { content: 'Once.' } }] })
    expect(second.json).toEqual(first.json)

    upstream.enqueue(turn.text('Also once.'))
    const created = await server.call('POST', '/api/conversations', { body: {}, token })
    const path = `/api/conversations/${created.json.data.id}/messages`
    const sent = await post(path, { text: 'Hello', stream: false }, 'message-1')
    const again = await post(path, { text: 'Hello', stream: false }, 'message-1')
    expect(sent.json.data.message.text).toBe('Also once.')
    expect(again.json.data.run.id).toBe(sent.json.data.run.id)
    upstream.expectDone()
  })
})

const { start } = useServers()

describe.each(DIALECTS)('an Idempotency-Key of a run that a program started (%s)', (dialect) => {
  const { start } = useServers()
  const databases = useDatabases()
  const completion = {
    model: 'nanoclaw/scripted',
    messages: [{ role: 'user', content: 'Hello' }],
  }
  const ways = {
    completion: ['/v1/chat/completions', completion],
    'streamed completion': ['/v1/chat/completions', { ...completion, stream: true }],
    response: ['/v1/responses', { model: completion.model, input: 'Hello', store: false }],
  } as const

  test('gets the same response within a day, also after its conversation is due and the server has restarted, and not after that', async () => {
    const settings = await databases.migrated(dialect)
    const config = {
      ...databaseKeys(settings),
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      // A temporary conversation is looked at 6 ms after its run.
      limits: { temporary_minutes: 0.002 },
    }
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-keys-'))
    let server = await start({ config, folder })
    const database = await databases.connect(settings)
    const { conversations, idempotencyKeys } = database.tables
    const count = async () => (await database.read.select().from(conversations)).length
    const ask = async (key: keyof typeof ways) => {
      const [path, body] = ways[key]
      const response = await fetch(server.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(body),
      })
      return [response.status, (await response.text()).replaceAll(/"created":\d+/g, '')]
    }
    const keys = Object.keys(ways) as (keyof typeof ways)[]
    const first: Record<string, unknown> = {}
    for (const key of keys) {
      upstream.enqueue(turn.text(`Once, as ${key}.`))
      first[key] = await ask(key)
      expect(first[key]).toEqual([200, expect.stringContaining(`Once, as ${key}.`)])
    }
    // Without a key, the conversation goes; by then, the others would be gone, too.
    upstream.enqueue(turn.text('Without a key.'))
    await server.call('POST', '/v1/chat/completions', { body: completion })
    await expect.poll(count).toBe(keys.length)

    await server.close()
    server = await start({ config, folder })
    for (const key of keys) expect(await ask(key), key).toEqual(first[key])
    upstream.expectDone()

    const yesterday = new Date(Date.now() - 25 * 60 * 60_000)
    await database.write(async (tx) => {
      await tx.update(idempotencyKeys).set({ createdAt: yesterday })
    })
    await server.close()
    server = await start({ config, folder })
    await expect.poll(count).toBe(0)
  })

  test('is answered with 409 once its conversation was deleted, and the work is not done twice', async () => {
    const server = await start({
      dialect,
      config: { models: [{ id: 'scripted', api_url: upstream.url }], titles: 'off' },
    })
    const body = { ...completion, store: true }
    const ask = () =>
      server.call('POST', '/v1/chat/completions', {
        body,
        headers: { 'idempotency-key': 'deleted' },
      })
    upstream.enqueue(turn.text('Once.'))
    expect((await ask()).status).toBe(200)
    const listed = await server.call('GET', '/api/conversations')
    await server.call('DELETE', `/api/conversations/${listed.json.data.items[0].id}`)
    await server.call('DELETE', '/api/trash')
    expect(await ask()).toMatchObject({
      status: 409,
      json: { error: { code: 'idempotency_body_gone' } },
    })
    upstream.expectDone()
  })
})

test('HEAD responds like GET without a body, and every failure has an error, a request id and its header', async () => {
  const server = await start()
  const created = await server.call('POST', '/v1/responses', {
    body: { model: 'nanoclaw/demo', input: 'Hello' },
  })
  const streams = [
    '/api/events',
    `/api/runs/${created.headers.get('x-nanoclaw-run-id')}/events`,
    `/v1/responses/${Object(created.json).id}?stream=true`,
  ]
  const paths = ['/api/models', '/api/conversations', '/healthz', '/v1/models', '/metrics']
  for (const path of [...paths, ...streams]) {
    const head = await fetch(server.url + path, { method: 'HEAD' })
    expect([path, head.status, await head.text()]).toEqual([path, 200, ''])
  }
  const json = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const failures: [string, RequestInit][] = [
    ['/api/nothing', {}],
    ['/nothing/here', { method: 'POST' }],
    ['/api/conversations/none', {}],
    ['/api/conversations', { ...json, body: '{' }],
    ['/api/conversations', { ...json, body: '{"temperature":9}' }],
    ['/api/conversations?limit=0', {}],
    ['/api/conversations/%E0%A4%A', {}],
    ['/api/conversations', { method: 'POST', headers: { 'content-type': 'text/csv' }, body: 'a' }],
  ]
  for (const [path, init] of failures) {
    const response = await fetch(server.url + path, init)
    const body: unknown = await response.json()
    expect([path, body]).toMatchObject([
      path,
      {
        code: response.status,
        error: expect.stringMatching(/^[a-z_]+$/),
        message: expect.stringMatching(/\w/),
        request_id: response.headers.get('x-request-id'),
      },
    ])
    expect(response.status).toBeGreaterThanOrEqual(400)
    expect(response.status).toBeLessThan(500)
  }
})
