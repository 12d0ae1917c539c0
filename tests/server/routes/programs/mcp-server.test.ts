// NanoClaw as an MCP server, called by the official client in both protocol eras.
import { createHash } from 'node:crypto'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { beforeAll, describe, expect, test } from 'vitest'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../../support/provider/use-upstream.ts'
import {
  register,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../../support/server/server.ts'

const upstream = await useUpstream()
const { start } = useServers()
let server: TestServer
let key: string
let projectId: string
let token: string
beforeAll(async () => {
  server = await start({
    config: {
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
    },
  })
  token = await register(server, 'agent')
  const created = await server.call('POST', '/api/auth/keys', {
    token,
    body: { name: 'mcp', scopes: ['mcp'] },
  })
  key = created.json.data.key
  const project = await server.call('POST', '/api/projects', { token, body: { name: 'Files' } })
  projectId = project.json.data.id
  await server.call('PUT', `/api/projects/${projectId}/files/notes.txt`, {
    token,
    body: { content: 'Remember the milk.' },
  })
})

type Era = 'legacy' | 'auto'

async function connect(era: Era, decide?: () => boolean, path = '/mcp'): Promise<Client> {
  const client = new Client(
    { name: 'tests', version: '1' },
    {
      versionNegotiation: { mode: era },
      ...(decide === undefined ? {} : { capabilities: { elicitation: { form: {} } } }),
    },
  )
  if (decide !== undefined)
    client.setRequestHandler('elicitation/create', async () => ({
      action: 'accept',
      content: { approve: decide() },
    }))
  await client.connect(
    new StreamableHTTPClientTransport(new URL(server.url + path), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
    }),
  )
  return client
}

async function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  const result = await client.callTool({ name, arguments: args })
  const [content] = result.content
  if (content?.type !== 'text') throw new Error('no text')
  return { text: content.text, isError: result.isError === true }
}
const write = (path: string) => ({
  id: `call_${path}`,
  name: 'file_write',
  arguments: { path, content: 'written\n' },
})

describe.each<Era>(['legacy', 'auto'])('an MCP client (%s)', (era) => {
  test('is told every ten seconds what happens, and stops the run when it cancels the call', async () => {
    const client = await connect(era)
    upstream.enqueue(turn.text('Never.', { until: new Promise(() => {}) }))
    const cancelling = new AbortController()
    const messages: (string | undefined)[] = []
    const asked = client.callTool(
      { name: 'ask', arguments: { text: `Take your time, ${era}.` } },
      {
        signal: cancelling.signal,
        onprogress: ({ message }) => void messages.push(message),
        resetTimeoutOnProgress: true,
      },
    )
    await expect.poll(() => messages.length).toBeGreaterThan(0)
    expect(messages[0]).toMatch(/begins \(1\d s\)/)
    cancelling.abort()
    await expect(asked).rejects.toThrow()
    const statusOf = async () => {
      const { json } = await server.call('GET', '/api/runs', { token })
      return json.data.items[0].status
    }
    await expect.poll(statusOf).toBe('stopped')
    await client.close()
  })

  test('may have an address with a slash at its end', async () => {
    const client = await connect(era, undefined, '/mcp/')
    expect((await call(client, 'list_projects')).text).toContain('Files')
    await client.close()
  })

  test('can ask, continue, search and read files', async () => {
    const client = await connect(era)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name).toSorted()).toEqual([
      'ask',
      'list_project_files',
      'list_projects',
      'read_project_file',
      'run_status',
      'search',
    ])
    upstream.enqueue(turn.text('Blue.'), turn.text('As I said, blue.'))
    const first = JSON.parse((await call(client, 'ask', { text: 'Which colour?' })).text)
    expect(first).toMatchObject({ status: 'completed', text: 'Blue.', waits_for: null })
    const next = { text: 'Again?', previous_run_id: first.run_id }
    const second = JSON.parse((await call(client, 'ask', next)).text)
    expect(second.text).toBe('As I said, blue.')
    expect(upstream.requests.at(-1)?.messages.slice(1)).toHaveLength(3)
    const status = await call(client, 'run_status', { run_id: first.run_id })
    expect(JSON.parse(status.text)).toMatchObject({ text: 'Blue.' })
    const found = await call(client, 'search', { query: 'colour' })
    expect(JSON.parse(found.text)[0]).toMatchObject({ title: 'Which colour?' })
    const inProject = { project_id: projectId }
    expect((await call(client, 'list_projects')).text).toContain('Files')
    expect((await call(client, 'list_project_files', inProject)).text).toContain('notes.txt')
    const file = await call(client, 'read_project_file', { ...inProject, path: 'notes.txt' })
    expect(file.text).toBe('Remember the milk.')
    const outside = { ...inProject, path: '../../secret.key' }
    expect(await call(client, 'read_project_file', outside)).toMatchObject({ isError: true })
    await client.close()
  })

  test('starts no run with a blank text, or in another project than that of the conversation that it continues', async () => {
    const client = await connect(era)
    const asked = upstream.requests.length
    const blank = await call(client, 'ask', { text: ' \n\t ' })
    expect(blank).toMatchObject({ isError: true, text: expect.stringContaining('blank') })
    expect(upstream.requests).toHaveLength(asked)

    upstream.enqueue(turn.text('Blue.'))
    const first = JSON.parse((await call(client, 'ask', { text: 'Which colour?' })).text)
    const elsewhere = { text: 'And now?', previous_run_id: first.run_id, project_id: projectId }
    expect(await call(client, 'ask', elsewhere)).toMatchObject({
      isError: true,
      text: expect.stringContaining('does not belong to this project'),
    })
    expect(upstream.requests).toHaveLength(asked + 1)

    upstream.enqueue(turn.text('Done.'))
    const inProject = { text: 'Go', project_id: projectId }
    const begun = JSON.parse((await call(client, 'ask', inProject)).text)
    upstream.enqueue(turn.text('Again.'))
    const again = { ...inProject, previous_run_id: begun.run_id }
    expect((await call(client, 'ask', again)).isError).toBe(false)
    await client.close()
  })

  test('is told where to decide a waiting call if it cannot ask its user', async () => {
    const client = await connect(era)
    upstream.enqueue(turn.toolCalls([write(`${era}.txt`)]))
    const { text } = await call(client, 'ask', { text: 'Write', project_id: projectId })
    expect(JSON.parse(text)).toMatchObject({
      status: 'awaiting_approval',
      waits_for: { name: 'file_write' },
      note: expect.stringContaining('run_status'),
    })
    await client.close()
  })
})

test('a question that continues a conversation of the page uses its settings and changes none of them', async () => {
  const settings = { system_prompt: 'Speak like a pirate.', temperature: 0.3, max_tokens: 1234 }
  const created = await server.call('POST', '/api/conversations', { token, body: settings })
  const path = `/api/conversations/${created.json.data.id}`
  upstream.enqueue(turn.text('Arr.'), turn.text('Aye.'))
  const body = { text: 'Hello', stream: false }
  expect((await server.call('POST', `${path}/messages`, { token, body })).status).toBe(200)
  const [run] = (await server.call('GET', '/api/runs', { token })).json.data.items
  const client = await connect('auto')
  const { text } = await call(client, 'ask', { text: 'And now?', previous_run_id: run.id })
  expect(JSON.parse(text)).toMatchObject({ status: 'completed', text: 'Aye.' })
  const asked = upstream.requests.at(-1)
  expect(JSON.stringify(asked?.messages[0])).toContain('pirate')
  expect(asked?.body).toMatchObject({ temperature: 0.3, max_tokens: 1234 })
  expect((await server.call('GET', path, { token })).json.data).toMatchObject(settings)

  // A refused question changes nothing either: of an unknown model, and while another answer waits for a person.
  const stored = async () => (await server.call('GET', path, { token })).json.data
  const refuse = async (more: object) => {
    const before = await stored()
    const seen = upstream.requests.length
    const given = { text: 'And then?', previous_run_id: run.id, ...more }
    expect(await call(client, 'ask', given)).toMatchObject({ isError: true })
    expect(await stored()).toEqual(before)
    expect(upstream.requests.length).toBe(seen)
  }
  await refuse({ model: 'unknown' })
  const project = { project_id: projectId }
  expect((await server.call('PATCH', path, { token, body: project })).status).toBe(200)
  upstream.enqueue(turn.toolCalls([write('waits.txt')]))
  await server.call('POST', `${path}/messages`, { token, body })
  expect((await stored()).active_run_id).not.toBeNull()
  await refuse({})
  expect(await stored()).toMatchObject(settings)
  await client.close()
})

test('a client that can ask its user is asked for approval, and the run continues', async () => {
  const client = await connect('auto', () => true)
  upstream.enqueue(turn.toolCalls([write('asked.txt')]), turn.text('Written.'))
  const { text } = await call(client, 'ask', { text: 'Write', project_id: projectId })
  expect(JSON.parse(text)).toMatchObject({ status: 'completed', text: 'Written.' })
  const file = await call(client, 'read_project_file', { project_id: projectId, path: 'asked.txt' })
  expect(file.text).toBe('written\n')
  await client.close()
})

test('every decision is in the audit log once, with the arguments that run, whoever decides through whatever door', async () => {
  const decisions = async () =>
    (await server.call('GET', '/api/admin/audit?action=approval_decided&limit=2', { token })).json
      .data.items
  const client = await connect('auto', () => true)
  upstream.enqueue(turn.toolCalls([write('mcp.txt')]), turn.text('Written.'))
  await call(client, 'ask', { text: 'Write', project_id: projectId })
  expect((await decisions())[0]).toMatchObject({
    username: 'agent',
    details: {
      tool: 'file_write',
      decision: 'approve',
      arguments: JSON.stringify(write('mcp.txt').arguments),
      by: 'mcp',
      api_key: expect.any(String),
    },
  })
  await client.close()

  const asking = await connect('auto')
  upstream.enqueue(turn.toolCalls([write('model.txt')]), turn.text('Written.'))
  const waiting = JSON.parse(
    (await call(asking, 'ask', { text: 'Write', project_id: projectId })).text,
  )
  await asking.close()
  const changed = { path: 'person.txt', content: 'x'.repeat(3000) }
  const decided = await server.call('POST', `/api/runs/${waiting.run_id}/approvals`, {
    token,
    body: { id_ref: waiting.waits_for.id_ref, decision: 'approve', arguments: changed },
  })
  expect(decided.status).toBe(200)
  const again = await server.call('POST', `/api/runs/${waiting.run_id}/approvals`, {
    token,
    body: { id_ref: waiting.waits_for.id_ref, decision: 'reject' },
  })
  expect(again.status).toBe(409)
  const [latest, earlier] = await decisions()
  const text = JSON.stringify(changed)
  expect(latest).toMatchObject({
    username: 'agent',
    address: '127.0.0.1',
    details: {
      id: waiting.run_id,
      id_ref: waiting.waits_for.id_ref,
      arguments: text.slice(0, 2000),
      arguments_sha256: createHash('sha256').update(text).digest('hex'),
    },
  })
  expect(earlier.details.by).toBe('mcp')
})

test('without a key, or with a key of another scope, nothing is served', async () => {
  const headers = { 'content-type': 'application/json' }
  const refused = await fetch(`${server.url}/mcp`, { method: 'POST', headers, body: '{}' })
  expect(refused.status).toBe(401)
  const models = await fetch(`${server.url}/api/conversations`, {
    headers: { authorization: `Bearer ${key}` },
  })
  expect(models.status).toBe(403)
})
