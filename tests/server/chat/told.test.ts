// Being told of a request that nobody decides: through what the user chose, once, and only when no page follows the run.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { useClusters } from '../../support/server/cluster.ts'
import { type EventReader, openEvents } from '../../support/server/events.ts'
import {
  databaseKeys,
  register,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../support/server/server.ts'
import { useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'
import { hasRedis } from '../../support/store/redis.ts'

const upstream = await useUpstream()
const { start } = useServers()
const databases = useDatabases()
const clusters = useClusters()
const received: string[] = []
const receiver = createServer((request, response) => {
  let text = ''
  request.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8')
  })
  request.on('end', () => {
    received.push(text)
    response.end('{}')
  })
})
beforeAll(() => new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done)))
afterAll(async () => {
  receiver.closeAllConnections()
  await new Promise((done) => receiver.close(done))
})
beforeEach(() => {
  received.length = 0
  upstream.program(({ messages }) =>
    messages.at(-1)?.role === 'user'
      ? turn.toolCalls([
          { id: 'call_1', name: 'file_write', arguments: { path: 'told.txt', content: 'SECRET' } },
        ])
      : turn.text('Done.'),
  )
})

/** `keys`: the database, which a second server of a test shares with the first. */
const open = (folder: string, keys: Record<string, unknown>) =>
  start({
    folder,
    config: {
      ...keys,
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      public_url: 'http://chat.example.org',
      network: { allow_private: ['127.0.0.1'] },
    },
  })

async function prepared(server: TestServer): Promise<string> {
  const { port } = receiver.address() as AddressInfo // never null or a path: the server listens on TCP
  await server.call('POST', '/api/channels', {
    body: { type: 'webhook', name: 'phone', settings: { url: `http://127.0.0.1:${port}/` } },
  })
  const { json } = await server.call('POST', '/api/projects', { body: { name: 'Told' } })
  return json.data.id
}
const ask = (server: TestServer, entries: object[]) =>
  server.call('PATCH', '/api/preferences', { body: { ask: entries } })

async function waitingRun(server: TestServer, project: string): Promise<EventReader> {
  const { json } = await server.call('POST', '/api/conversations', {
    body: { project_id: project },
  })
  const stream = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
    body: { text: 'Go', on_disconnect: 'continue' },
  })
  await stream.next(({ event }) => event === 'approval_required')
  return stream
}

describe.each(DIALECTS)('being told of a request (%s)', (dialect) => {
  test('waits until no page follows the run, happens once also across a restart, and says as much as was chosen', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-told-'))
    const keys = databaseKeys(await databases.migrated(dialect))
    let server = await open(folder, keys)
    const project = await prepared(server)
    expect((await server.call('GET', '/api/preferences')).json.data.ask).toEqual([
      { through: 'push', after: 30, detail: 'name' },
    ])
    await ask(server, [{ through: 'channel:phone', after: 0, detail: 'name' }])
    const watched = await waitingRun(server, project)
    const alone = await waitingRun(server, project)
    alone.leave()
    await eventually(() => expect(received).toHaveLength(1))
    expect(received[0]).toContain('file_write (medium risk)')
    expect(received[0]).toContain('http://chat.example.org/waiting')
    expect(received[0]).not.toContain('SECRET')
    watched.leave()
    await eventually(() => expect(received).toHaveLength(2))

    // The next process asks again, and knows whom it has told.
    await ask(server, [
      { through: 'channel:phone', after: 0, detail: 'name' },
      { through: 'channel:phone', after: 1, detail: 'preview' },
    ])
    await server.close()
    server = await open(folder, keys)
    await eventually(() => expect(received).toHaveLength(4))
    expect(received.slice(2).every((text) => text.includes('SECRET'))).toBe(true)
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  })
})

describe.skipIf(!hasRedis)('being told of a request, at two instances', () => {
  test('happens once, whichever of them goes on with the run', async () => {
    const { instances } = await clusters.start(2, {
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      network: { allow_private: ['127.0.0.1'] },
    })
    const [one, other] = instances
    if (one === undefined || other === undefined) throw new Error('two were started')
    const project = await prepared(one)
    await ask(one, [
      { through: 'channel:phone', after: 0, detail: 'name' },
      { through: 'channel:phone', after: 1, detail: 'preview' },
    ])
    const streams = [await waitingRun(one, project), await waitingRun(other, project)]
    // A page of the other instance follows the first run: it is not alone yet.
    const { json } = await other.call('GET', '/api/approvals')
    const [second, first] = json.data.items
    const page = await openEvents(`${other.url}/api/runs/${first.run_id}/events`)
    for (const stream of streams) stream.leave()
    await eventually(() => expect(received).toHaveLength(2))
    page.leave()
    await eventually(() => expect(received).toHaveLength(4))
    // The instance that performs them ends; the other goes on with its runs and tells nobody again.
    await one.close()
    const decide = (run: string) =>
      other.call('POST', `/api/runs/${run}/approvals`, {
        body: { id_ref: 'call_1', decision: 'reject' },
      })
    for (const { run_id: run } of [first, second]) expect((await decide(run)).status).toBe(200)
    expect(received.filter((text) => text.includes('SECRET'))).toHaveLength(2)
    expect(received).toHaveLength(4)
  })
})

describe.each(DIALECTS)('being told as an approver (%s)', (dialect) => {
  test('follows the approver’s own list, names the person, and says nothing of the conversation', async () => {
    const server = await start({
      dialect,
      config: {
        auth_mode: 'multi',
        registration: 'open',
        jwt_secret: TEST_JWT_SECRET,
        models: [{ id: 'scripted', api_url: upstream.url }],
        titles: 'off',
        network: { allow_private: ['127.0.0.1'] },
      },
    })
    const [olga, petra] = [await register(server, 'olga'), await register(server, 'petra')]
    const { json: profile } = await server.call('GET', '/api/auth/profile', { token: petra })
    const { port } = receiver.address() as AddressInfo // never null or a path: the server listens on TCP
    await server.call('POST', '/api/channels', {
      token: petra,
      body: { type: 'webhook', name: 'desk', settings: { url: `http://127.0.0.1:${port}/` } },
    })
    const desk = { through: 'channel:desk', after: 0, detail: 'preview' }
    await server.call('PATCH', '/api/preferences', { token: petra, body: { ask: [desk] } })
    const { json: made } = await server.call('POST', '/api/projects', {
      token: olga,
      body: { name: 'Decided' },
    })
    await server.call('PUT', `/api/projects/${made.data.id}`, {
      token: olga,
      body: { name: 'Decided', approvers: [`user:${profile.data.id}`] },
    })
    const { json } = await server.call('POST', '/api/conversations', {
      token: olga,
      body: { project_id: made.data.id, title: 'PRIVATE TITLE' },
    })
    // Olga's own page follows the run meanwhile.
    const stream = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
      headers: { authorization: `Bearer ${olga}` },
      body: { text: 'PRIVATE QUESTION' },
    })
    await stream.next(({ event }) => event === 'approval_required')
    await eventually(() => expect(received).toHaveLength(1))
    expect(received[0]).toContain('A tool of olga needs your decision: file_write (medium risk).')
    expect(received[0]).toContain('SECRET')
    expect(received[0]).not.toContain('PRIVATE')
    stream.leave()
  })
})

test('unknown channels, previews in notifications, and more than five entries are refused', async () => {
  const server = await open(mkdtempSync(join(tmpdir(), 'nanoclaw-told-')), {})
  expect(await ask(server, [{ through: 'channel:nowhere', after: 0 }])).toMatchObject({
    status: 409,
    json: { error: 'channel_unknown' },
  })
  const push = { through: 'push', after: 0, detail: 'name' }
  for (const entries of [
    [{ ...push, detail: 'preview' }],
    [{ ...push, after: 86_401 }],
    [{ ...push, through: 'email' }],
    Array.from({ length: 6 }, () => push),
  ])
    expect((await ask(server, entries)).status).toBe(400)
  expect((await ask(server, [])).json.data.ask).toEqual([])
})
