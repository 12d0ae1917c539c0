// PostgreSQL itself crashing or standing still under the whole server: requests are told in time, runs outlast it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openEvents } from '../support/events.ts'
import { type OwnPostgres, startEmbedded } from '../support/postgres-server.ts'
import { type TestServer, useServers } from '../support/server.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { turn } from '../support/upstream-turns.ts'

const PAUSE_MS = process.env.FAULTS === 'full' ? 20_000 : 4_000
/** Three are promised; the rest is for a busy machine. */
const ANSWER_MS = 4_000

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

/** A run with a tool whose last round waits for `release`. */
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

/** A few reads and writes at once; answers their statuses and how long the slowest took. */
async function ask(): Promise<{ statuses: number[]; slowest: number }> {
  const began = performance.now()
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => [
      server.call('GET', '/api/conversations'),
      server.call('POST', '/api/conversations', { body: { title: 'Now?' } }),
    ]).flat(),
  )
  for (const { status, headers } of answers)
    if (status === 503) expect(headers.get('retry-after')).not.toBeNull()
  return { statuses: answers.map(({ status }) => status), slowest: performance.now() - began }
}

async function expectEnded(run: Awaited<ReturnType<typeof beginRun>>): Promise<void> {
  const events = await run.stream.all()
  expect(events.at(-1)).toMatchObject({ event: 'done', data: { finish_reason: 'stop' } })
  const page = await server.call('GET', `/api/conversations/${run.id}/messages`)
  expect(page.json.data.items).toHaveLength(2)
  expect(page.json.data.items.at(-1)).toMatchObject({ text: 'Forty-two.', status: 'completed' })
}

const isReady = async (): Promise<number> => (await fetch(`${server.url}/readyz`)).status

test('an immediate shutdown in mid-run: 503 until it is back, then all goes on by itself', async () => {
  const run = await beginRun()
  await postgres.crash()
  run.release()
  const { statuses, slowest } = await ask()
  expect(new Set(statuses)).toEqual(new Set([503]))
  expect(slowest).toBeLessThan(ANSWER_MS)
  expect(await isReady()).toBe(503)
  await postgres.startAgain()
  await expect.poll(isReady, { timeout: 5_000 }).toBe(200)
  expect(new Set((await ask()).statuses)).toEqual(new Set([200]))
  await expectEnded(run)
})

test.runIf(process.platform === 'linux')(
  'a server that stands still: 503 in time, then all goes on by itself',
  async () => {
    const run = await beginRun()
    postgres.pause()
    const resumed = new Promise<void>((resolve) =>
      setTimeout(() => {
        postgres.resume()
        resolve()
      }, PAUSE_MS),
    )
    run.release()
    const { statuses, slowest } = await ask()
    expect(new Set(statuses)).toEqual(new Set([503]))
    expect(slowest).toBeLessThan(ANSWER_MS)
    await resumed
    await expect.poll(isReady, { timeout: 5_000 }).toBe(200)
    expect(new Set((await ask()).statuses)).toEqual(new Set([200]))
    await expectEnded(run)
  },
)
