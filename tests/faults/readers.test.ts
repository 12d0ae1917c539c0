// Many readers that never read, beside one that does: the server's memory does not pay for them.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openEvents } from '../support/events.ts'
import { type ServerPlace, type ServerProcess, serverPlace } from '../support/server-process.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { turn } from '../support/upstream-turns.ts'

const isFull = process.env.FAULTS === 'full'
/** Far more than the system takes in between two ends of a connection. */
const MEGABYTES = 9
const SLEEPERS = 150
/** The system's own share of what is told to somebody who does not read. */
const IN_THE_CONNECTION = 5
const TEXT = 'All work and no play. '.repeat((MEGABYTES * 1024 * 1024) / 22)
/** What a server would need that kept the rest for each of them. */
const QUEUED = SLEEPERS * (MEGABYTES - IN_THE_CONNECTION) * 1024 * 1024
/** Small enough for garbage to be collected before it looks like something that is held. */
const HEAP = '--max-old-space-size=256'

let upstream: Upstream
let folder: string
let place: ServerPlace
let server: ServerProcess

beforeAll(async () => {
  upstream = await startUpstream()
  folder = mkdtempSync(join(tmpdir(), 'nanoclaw-readers-'))
  place = await serverPlace(folder, {
    models: [{ id: 'scripted', api_url: upstream.url }],
    titles: 'off',
    log_level: 'warn',
  })
  server = await place.start({ wrapper: ['env', `NODE_OPTIONS=${HEAP}`] })
})
afterAll(async () => {
  await place.close()
  await upstream.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Bytes of memory that the process holds. */
const memory = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) * 1024

/** Connections that clients have to the server. */
function connections(): number {
  const port = Number(new URL(server.url).port).toString(16).toUpperCase().padStart(4, '0')
  const ESTABLISHED = '01'
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(`:${port}`) && state === ESTABLISHED).length
}

/** One run with the long text; answers the most memory that was held while it went on. */
async function tell(
  beside: (runId: string) => Promise<void>,
): Promise<{ id: string; most: number }> {
  let release = () => {}
  const until = new Promise<void>((resolve) => {
    release = resolve
  })
  upstream.enqueue(turn.text(TEXT, { chunkSize: 8_000, until }))
  const made = await fetch(`${server.url}/api/conversations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  const { data } = (await made.json()) as { data: { id: string } }
  const stream = await openEvents(`${server.url}/api/conversations/${data.id}/messages`, {
    body: { text: 'Go', stream_mode: 'delta' },
  })
  const { data: run } = await stream.next(({ event }) => event === 'run')
  await beside(run.run_id)
  release()
  let most = 0
  await stream.next(() => {
    most = Math.max(most, memory())
    return stream.events.at(-1)?.event === 'done'
  })
  return { id: run.run_id, most }
}

function sleeper(runId: string): Promise<Socket> {
  const { hostname, port } = new URL(server.url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    // The headers are all it ever takes.
    socket.once('data', () => resolve(socket.pause()))
    socket.write(
      `GET /api/runs/${runId}/events?stream_mode=delta HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    )
  })
}

test.runIf(isFull && process.platform === 'linux')(
  `${SLEEPERS} readers that never read ${MEGABYTES} MB`,
  async () => {
    const alone = await tell(async () => {})
    const sockets: Socket[] = []
    const beside = await tell(async (runId) => {
      for (let at = 0; at < SLEEPERS; at += 1) sockets.push(await sleeper(runId))
    })
    expect(beside.most - alone.most).toBeLessThan(QUEUED / 3)
    // Each of them is dropped in time; what is left are the test's own requests.
    await expect.poll(() => connections(), { timeout: 40_000, interval: 500 }).toBeLessThan(5)
    for (const socket of sockets) socket.destroy()
    const back = await openEvents(`${server.url}/api/runs/${beside.id}/events?stream_mode=delta`, {
      headers: { 'last-event-id': '1' },
    })
    const told = (await back.all()).map(({ data }) => data.delta ?? '').join('')
    expect(told === TEXT, 'whoever comes back gets all of it').toBe(true)
  },
)
