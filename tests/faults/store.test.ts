// A store that rejects writes for a while: runs survive, requests get a clear response, nothing is lost.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SqliteClient } from '../../server/lib/sqlite-driver.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { openEvents } from '../support/server/events.ts'
import { databaseKeys, useServers } from '../support/server/server.ts'
import { useDatabases } from '../support/store/databases.ts'
import { onServer } from '../support/store/postgres-server.ts'

let upstream: Upstream
const { start } = useServers()
const databases = useDatabases()
const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-store-'))
beforeAll(async () => {
  upstream = await startUpstream()
})
afterAll(async () => {
  await upstream.close()
  rmSync(folder, { recursive: true, force: true })
})

const config = () => ({ models: [{ id: 'scripted', api_url: upstream.url }], titles: 'off' })
const twoRounds = () => [
  turn.toolCalls([{ name: 'calculator', arguments: { expression: '6*7' } }], {
    thinking: 'Calculate.',
  }),
  turn.text('Forty-two.', { delayMs: 5 }),
]

test("a run survives another program's lock on SQLite, and its end is stored", async () => {
  const file = join(folder, 'locked.db')
  const server = await start({ config: { ...config(), db_sqlite_file: file } })
  upstream.enqueue(...twoRounds())
  const { json } = await server.call('POST', '/api/conversations', { body: {} })
  const stream = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
    body: { text: 'Go', stream_mode: 'delta' },
  })
  await stream.next(({ event }) => event === 'run')
  const foreign = new SqliteClient(file)
  foreign.exec('begin immediate')
  const reading = await server.call('GET', '/api/conversations')
  expect(reading.status, 'reads go on').toBe(200)
  setTimeout(() => foreign.exec('commit'), 2_000)
  const events = await stream.all()
  expect(events.at(-1)).toMatchObject({ event: 'done', data: { finish_reason: 'stop' } })
  const page = await server.call('GET', `/api/conversations/${json.data.id}/messages`)
  expect(page.json.data.items.at(-1)).toMatchObject({ text: 'Forty-two.', status: 'completed' })
  foreign.close()
})

// The server waits out a lock of 3 s; during one of 30 s it refuses requests with a Retry-After header.
test.each(process.env.FAULTS === 'full' ? [3, 30] : [2])(
  'while another program locks SQLite for %i seconds, every acknowledged write of eight writers is stored',
  async (seconds) => {
    const file = join(folder, `lock-${seconds}.db`)
    const server = await start({ config: { db_sqlite_file: file } })
    const foreign = new SqliteClient(file)
    const acknowledged: string[] = []
    const refused: { status: number; retryAfter: string | null }[] = []
    let isOver = false
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let n = 0; !isOver || n < 3; n += 1) {
        const title = `${writer} ${n}`
        const response = await server.call('POST', '/api/conversations', { body: { title } })
        if (response.status === 200) acknowledged.push(response.json.data.id)
        else
          refused.push({ status: response.status, retryAfter: response.headers.get('retry-after') })
      }
    })
    foreign.exec('begin immediate')
    const reading = await server.call('GET', '/api/conversations')
    expect(reading.status, 'reads go on').toBe(200)
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
    foreign.exec('commit')
    foreign.close()
    isOver = true
    await Promise.all(writers)
    if (seconds < 10) expect(refused).toEqual([])
    else expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]))
    for (const { retryAfter } of refused) expect(Number(retryAfter)).toBeGreaterThan(0)
    expect(acknowledged.length).toBeGreaterThanOrEqual(8)
    for (const id of acknowledged)
      expect((await server.call('GET', `/api/conversations/${id}`)).status).toBe(200)
    const last = await server.call('POST', '/api/conversations', { body: {} })
    expect(last.status).toBe(200)
  },
)

test('when PostgreSQL ends every connection during a run, the run continues and its end is stored', async () => {
  const settings = await databases.settings('postgres')
  const server = await start({ config: { ...config(), ...databaseKeys(settings) } })
  upstream.enqueue(...twoRounds())
  const { json } = await server.call('POST', '/api/conversations', { body: {} })
  const stream = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
    body: { text: 'Go', stream_mode: 'delta' },
  })
  await stream.next(({ event }) => event === 'run')
  if (settings.dialect !== 'postgres' || !('url' in settings.connection)) throw new Error('a URL')
  const { url } = settings.connection
  await onServer(
    url,
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
  const events = await stream.all()
  expect(events.at(-1)).toMatchObject({ event: 'done', data: { finish_reason: 'stop' } })
  const page = await server.call('GET', `/api/conversations/${json.data.id}/messages`)
  expect(page.json.data.items.at(-1)).toMatchObject({ text: 'Forty-two.', status: 'completed' })
})
