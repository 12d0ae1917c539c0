// Shutdown: SIGTERM lets runs finish and leaves the others in a state from which the next start resumes them.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { openEvents } from '../support/server/events.ts'
import {
  type ServerPlace,
  type ServerProcess,
  serverPlace,
} from '../support/server/server-process.ts'

let upstream: Upstream
let folder: string
let place: ServerPlace
/** Its grace period is long enough for any slow machine. */
let patientPlace: ServerPlace
/** Like that, for a run that never ends: the next start there would continue it. */
let endlessPlace: ServerPlace
let server: ServerProcess

beforeAll(async () => {
  upstream = await startUpstream()
  folder = mkdtempSync(join(tmpdir(), 'nanoclaw-drain-'))
  place = await serverPlace(folder, {
    models: [{ id: 'scripted', api_url: upstream.url }],
    titles: 'off',
    shutdown_grace: 2,
    log_level: 'warn',
  })
})
beforeAll(async () => {
  const patient = (name: string): Promise<ServerPlace> => {
    const of = join(folder, name)
    mkdirSync(of)
    return serverPlace(of, {
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      shutdown_grace: 600,
      log_level: 'warn',
    })
  }
  patientPlace = await patient('patient')
  endlessPlace = await patient('endless')
})
beforeEach(() => upstream.reset())
afterAll(async () => {
  await place.close()
  await patientPlace.close()
  await endlessPlace.close()
  await upstream.close()
  rmSync(folder, { recursive: true, force: true })
})

async function send(text: string) {
  const created = await fetch(`${server.url}/api/conversations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  const { data } = (await created.json()) as { data: { id: string } }
  return await openEvents(`${server.url}/api/conversations/${data.id}/messages`, {
    body: { text, stream_mode: 'delta' },
  })
}

const readiness = async (): Promise<number> =>
  await fetch(`${server.url}/readyz`).then(
    ({ status }) => status,
    () => 0,
  )

test('a run that ends within the grace period is streamed to its end; readiness is 503 at once', async () => {
  server = await patientPlace.start()
  let release = () => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  upstream.enqueue(turn.text('Just in time.', { until: gate }))
  const stream = await send('Hurry')
  await upstream.nextRequest()
  process.kill(server.pid, 'SIGTERM')
  await expect.poll(readiness).not.toBe(200)
  release()
  expect((await stream.all()).at(-1)).toMatchObject({
    event: 'done',
    data: { finish_reason: 'stop' },
  })
  expect(await server.exited).toMatchObject({ code: 0 })
})

test('a run that does not end is suspended, its listener is asked to reconnect, and it continues after the next start', async () => {
  server = await place.start()
  upstream.enqueue(turn.text('Never', { until: new Promise(() => {}) }))
  const stream = await send('Take your time')
  const started = await stream.next(({ event }) => event === 'run')
  const request = await upstream.nextRequest()
  process.kill(server.pid, 'SIGTERM')
  const events = await stream.all()
  expect(events.some(({ event }) => event === 'done' || event === 'error')).toBe(false)
  expect(await request.closed).toBe('client_left')
  expect(await server.exited).toMatchObject({ code: 0 })

  upstream.enqueue(turn.text('Back again.'))
  server = await place.start()
  const back = await openEvents(
    `${server.url}/api/runs/${started.data.run_id}/events?stream_mode=delta`,
    { headers: { 'last-event-id': String(events.at(-1)?.id) } },
  )
  const later = await back.all()
  expect(later.at(-1)).toMatchObject({ event: 'done', data: { finish_reason: 'stop' } })
  expect(later.map(({ data }) => data.delta ?? '').join('')).toBe('Back again.')
})

test('a second SIGTERM ends at once', async () => {
  server = await endlessPlace.start()
  upstream.enqueue(turn.text('Never', { until: new Promise(() => {}) }))
  await send('Hold')
  await upstream.nextRequest()
  process.kill(server.pid, 'SIGTERM')
  await expect.poll(readiness).not.toBe(200)
  // Further apart than the duplicate signals that arrive if npm forwards one to the whole process group.
  const again = setInterval(() => process.kill(server.pid, 'SIGTERM'), 100)
  void server.exited.then(() => clearInterval(again))
  expect(await server.exited).toMatchObject({ code: 1 })
})

// SIGHUP comes with SIGTERM here, so that one round sees both.
const SIGNALS =
  process.env.FAULTS === 'full' ? (['SIGTERM', 'SIGINT', 'SIGHUP'] as const) : (['SIGHUP'] as const)
test.each(SIGNALS)(
  'two simultaneous %s signals, as npm sends them to a process group, drain like a single one',
  async (signal) => {
    server = await patientPlace.start()
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    upstream.enqueue(turn.text('Just in time.', { until: gate }))
    const stream = await send('Hurry')
    await upstream.nextRequest()
    process.kill(server.pid, signal)
    process.kill(server.pid, signal === 'SIGHUP' ? 'SIGTERM' : signal)
    await expect.poll(readiness).not.toBe(200)
    release()
    expect((await stream.all()).at(-1)).toMatchObject({ event: 'done' })
    expect(await server.exited).toMatchObject({ code: 0 })
  },
)
