// PostgreSQL commits but its reply is lost: retried writes are recognized, so that nothing is stored twice.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommitProxy, startCommitProxy } from '../../support/faults/write-killer.ts'
import { startUpstream, type Upstream } from '../../support/provider/upstream.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { openEvents } from '../../support/server/events.ts'
import { databaseKeys, type TestServer, useServers } from '../../support/server/server.ts'
import { useDatabases } from '../../support/store/databases.ts'

const databases = useDatabases()
const { start } = useServers()
let upstream: Upstream
let proxy: CommitProxy
let server: TestServer

beforeAll(async () => {
  upstream = await startUpstream()
  const settings = await databases.settings('postgres')
  if (settings.dialect !== 'postgres' || !('url' in settings.connection))
    throw new Error('asked for the URL of a PostgreSQL server')
  const url = new URL(settings.connection.url)
  proxy = await startCommitProxy({ host: url.hostname, port: Number(url.port || 5432) })
  url.hostname = '127.0.0.1'
  url.port = String(proxy.port)
  server = await start({
    config: {
      ...databaseKeys({ ...settings, connection: { url: url.href } }),
      models: [{ id: 'scripted', api_url: upstream.url, api_key: 'key-of-the-tests' }],
      titles: 'first_message',
    },
  })
})
afterAll(async () => {
  await server.close()
  proxy.close()
  await upstream.close()
})

const bookedTokens = async (): Promise<number> =>
  (await server.call('GET', '/api/stats/tokens?period=daily')).json.data.total_tokens

test('a run whose n-th commit is not confirmed has one message, one answer, and its usage counted once', async () => {
  for (let n = 1; ; n += 1) {
    upstream.reset()
    upstream.enqueue(
      turn.toolCalls([{ name: 'calculator', arguments: { expression: '6*7' } }]),
      turn.text('It is 42.'),
    )
    const conversation = await server.call('POST', '/api/conversations', { body: {} })
    const path = `/api/conversations/${conversation.json.data.id}/messages`
    const before = await bookedTokens()
    proxy.killAt(n, 'after', (cut) => cut())
    const stream = await openEvents(server.url + path, {
      body: { text: 'What is 6*7?', client_id: `message-${n}` },
    })
    expect(stream.status, `commit ${n}`).toBe(200)
    const events = await stream.all()
    const wasLost = proxy.isSprung
    proxy.disarm()

    expect(events.at(-1)?.event, `commit ${n}`).toBe('done')
    const { items } = (await server.call('GET', path)).json.data
    expect(
      items.map(({ role, text, status }: Record<string, string>) => [role, text, status]),
      `commit ${n}`,
    ).toEqual([
      ['user', 'What is 6*7?', 'completed'],
      ['assistant', 'It is 42.', 'completed'],
    ])
    upstream.expectDone()
    const { usage } = (await server.call('GET', `/api/runs/${events[0]?.data.run_id}`)).json.data
    expect(usage.total_tokens).toBeGreaterThan(0)
    expect((await bookedTokens()) - before, `commit ${n}`).toBe(usage.total_tokens)
    if (!wasLost) {
      expect(n).toBeGreaterThan(3)
      return
    }
  }
})
