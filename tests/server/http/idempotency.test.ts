// Idempotency-Key, HEAD, and errors: what every client may rely on.
import { beforeAll, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../support/server/server.ts'

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
