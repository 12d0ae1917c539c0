// PostgreSQL crashes or hangs under the whole server: requests fail in time, runs survive.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { openEvents } from '../support/server/events.ts'
import { type TestServer, useServers } from '../support/server/server.ts'
import { type OwnPostgres, startEmbedded } from '../support/store/postgres-server.ts'

const { start } = useServers()
let postgres: OwnPostgres
let upstream: Upstream
let server: TestServer

beforeAll(async () => {
  postgres = await startEmbedded()
  upstream = await startUpstream()
  server = await start({
    config: {
      db_type: 'postgresql',
      database_url: postgres.url,
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
    },
  })
})
afterAll(async () => {
  await server.close()
  await upstream.close()
  await postgres.stop()
})

/** The pool is promised to be back within 5 s of the database; the rest is for a machine that does much else. */
const RECOVERY = { timeout: 30_000 }

/** Starts a run with a tool call; its last iteration waits for `release`. */
async function beginRun() {
  let release = () => {}
  const until = new Promise<void>((resolve) => {
    release = resolve
  })
  upstream.enqueue(
    turn.toolCalls([{ name: 'calculator', arguments: { expression: '6*7' } }], {
      thinking: 'Calculate.',
    }),
    turn.thinking('Look.', 'Forty-two.', { until }),
  )
  const { json } = await server.call('POST', '/api/conversations', { body: {} })
  const stream = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
    body: { text: 'Go', stream_mode: 'delta' },
  })
  await stream.next(({ data }) => data.type === 'tool_result')
  return { id: json.data.id, stream, release }
}

/** Sends a few reads and writes in parallel; resolves to their statuses. */
async function ask(): Promise<number[]> {
  const responses = await Promise.all(
    Array.from({ length: 5 }, () => [
      server.call('GET', '/api/conversations'),
      server.call('POST', '/api/conversations', { body: { title: 'Now?' } }),
    ]).flat(),
  )
  for (const { status, headers } of responses)
    if (status === 503) expect(headers.get('retry-after')).not.toBeNull()
  return responses.map(({ status }) => status)
}

async function expectEnded(run: Awaited<ReturnType<typeof beginRun>>): Promise<void> {
  const events = await run.stream.all()
  expect(events.at(-1)).toMatchObject({ event: 'done', data: { finish_reason: 'stop' } })
  const page = await server.call('GET', `/api/conversations/${run.id}/messages`)
  expect(page.json.data.items).toHaveLength(2)
  expect(page.json.data.items.at(-1)).toMatchObject({ text: 'Forty-two.', status: 'completed' })
}

const isReady = async (): Promise<number> => (await fetch(`${server.url}/readyz`)).status

test('after an immediate shutdown during a run, requests get 503 until the database is back, and then the run continues', async () => {
  const run = await beginRun()
  await postgres.crash()
  run.release()
  expect(new Set(await ask())).toEqual(new Set([503]))
  expect(await isReady()).toBe(503)
  await postgres.startAgain()
  await expect.poll(isReady, RECOVERY).toBe(200)
  expect(new Set(await ask())).toEqual(new Set([200]))
  await expectEnded(run)
})

test.runIf(process.platform === 'linux')(
  'while PostgreSQL is suspended, requests return 503; afterwards runs and requests continue without a restart',
  async () => {
    const run = await beginRun()
    postgres.pause()
    run.release()
    // PostgreSQL stays suspended until all requests have failed, so the server's own timeouts must end them.
    expect(new Set(await ask())).toEqual(new Set([503]))
    postgres.resume()
    await expect.poll(isReady, RECOVERY).toBe(200)
    expect(new Set(await ask())).toEqual(new Set([200]))
    await expectEnded(run)
  },
)
