// Many clients that never read their response, next to one that does: they cost the server no memory.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { openEvents } from '../support/server/events.ts'
import {
  type ServerPlace,
  type ServerProcess,
  serverPlace,
} from '../support/server/server-process.ts'

const LARGEST_TEXT_FILE = 5 * 1024 * 1024
/** With 50 clients, far more than the server may use. */
const DOWNLOAD = 20 * 1024 * 1024
const LONGEST_PROMPT = 100_000
const isFull = process.env.FAULTS === 'full'
/** Number of clients for each kind of response: if the server queued the rest for each of them, it would take over 200 MB. */
const READERS = isFull ? 100 : 50
/** Length of the text: far more than the system's socket buffers hold. */
const MEGABYTES = 9
const SLEEPERS = 150
/** MB that the system's socket buffers hold for a client that does not read. */
const IN_THE_CONNECTION = 5
const TEXT = 'All work and no play. '.repeat((MEGABYTES * 1024 * 1024) / 22)
/** Bytes that the server would need if it queued the rest for each client. */
const QUEUED = SLEEPERS * (MEGABYTES - IN_THE_CONNECTION) * 1024 * 1024
/** Small enough that garbage is collected before it is mistaken for memory in use. */
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

/** Resident memory of the server, in bytes. */
const memory = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) * 1024

/** Number of established connections to the server. */
function connections(): number {
  const port = Number(new URL(server.url).port).toString(16).toUpperCase().padStart(4, '0')
  const ESTABLISHED = '01'
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(`:${port}`) && state === ESTABLISHED).length
}

/** Performs one run with the long text; `most` is the peak memory during it, in bytes. */
async function performLongRun(
  beside: (runId: string) => Promise<void>,
): Promise<{ id: string; conversationId: string; most: number }> {
  let release = () => {}
  const until = new Promise<void>((resolve) => {
    release = resolve
  })
  upstream.enqueue(turn.text(TEXT, { chunkSize: 8_000, until }))
  const created = await fetch(`${server.url}/api/conversations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  const { data } = (await created.json()) as { data: { id: string } }
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
  return { id: run.run_id, conversationId: data.id, most }
}

/** Requests a path and reads nothing but the first piece of the response. */
function sleeper(path: string): Promise<Socket> {
  const { hostname, port } = new URL(server.url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    socket.once('error', reject)
    // The headers are all that it ever reads.
    socket.once('data', (piece: Buffer) => {
      socket.pause()
      const status = piece.toString('latin1', 0, 12)
      if (status === 'HTTP/1.1 200') resolve(socket)
      else reject(new Error(status))
    })
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  })
}

test.runIf(isFull && process.platform === 'linux')(
  `${SLEEPERS} clients that never read their ${MEGABYTES} MB use little memory, are disconnected and can catch up`,
  async () => {
    const alone = await performLongRun(async () => {})
    const sockets: Socket[] = []
    const beside = await performLongRun(async (runId) => {
      for (let at = 0; at < SLEEPERS; at += 1)
        sockets.push(await sleeper(`/api/runs/${runId}/events?stream_mode=delta`))
    })
    expect(beside.most - alone.most).toBeLessThan(QUEUED / 3)
    // The server drops all of them in time; only the test's own connections remain.
    await expect.poll(() => connections(), { timeout: 40_000, interval: 500 }).toBeLessThan(5)
    for (const socket of sockets) socket.destroy()
    const back = await openEvents(`${server.url}/api/runs/${beside.id}/events?stream_mode=delta`, {
      headers: { 'last-event-id': '1' },
    })
    const received = (await back.all()).map(({ data }) => data.delta ?? '').join('')
    expect(received === TEXT, 'whoever comes back gets all of it').toBe(true)
  },
)

describe.runIf(process.platform === 'linux')(`${READERS} readers that never read`, () => {
  const paths = new Map<string, string>()

  const post = async (path: string, body: object): Promise<{ id: string }> => {
    const response = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return ((await response.json()) as { data: { id: string } }).data
  }

  beforeAll(async () => {
    const { id, conversationId } = await performLongRun(async () => {})
    paths.set('a finished run', `/api/runs/${id}/events?stream_mode=delta`)
    paths.set('a page of messages', `/api/conversations/${conversationId}/messages`)
    const project = await post('/api/projects', { name: 'Files' })
    const userFolder =
      readdirSync(join(folder, 'workspaces')).find((name) => !name.startsWith('.')) ?? ''
    const files = join(folder, 'workspaces', userFolder, project.id)
    writeFileSync(join(files, 'large.bin'), Buffer.alloc(DOWNLOAD))
    paths.set('a text file', `/api/projects/${project.id}/files/large.txt`)
    paths.set('a download', `/api/projects/${project.id}/files/large.bin?raw=1`)
    if (!isFull) return
    writeFileSync(join(files, 'large.txt'), TEXT.slice(0, LARGEST_TEXT_FILE))
    for (let at = 0; at < 100; at += 1)
      await post('/api/conversations', { system_prompt: 'é'.repeat(LONGEST_PROMPT) })
    paths.set('a page of conversations', '/api/conversations?limit=100')
  })

  // In the short form one stream and one file.
  const kinds = ['a finished run', 'a download']
  if (isFull) kinds.push('a page of messages', 'a text file', 'a page of conversations')
  test.each(kinds)(
    'cost the server less than 150 MB of memory when they request %s',
    async (what) => {
      const path = paths.get(what) ?? ''
      // Normal reads first: compiled code, caches and a grown heap must not count as a cost of the others.
      const readings = Array.from({ length: 4 }, () => fetch(`${server.url}${path}`))
      await Promise.all(readings.map(async (response) => (await response).arrayBuffer()))
      const before = memory()
      let most = 0
      const look = (): void => {
        most = Math.max(most, memory())
      }
      const ended = server.exited.then(({ code, signal }) => {
        throw new Error(`the server ended with ${code ?? signal}`)
      })
      const openAll = async (): Promise<Socket[]> => {
        const opened: Socket[] = []
        while (opened.length < READERS)
          opened.push(...(await Promise.all(Array.from({ length: 10 }, () => sleeper(path)))))
        return opened
      }
      const watch = setInterval(look, 20)
      const sockets = await Promise.race([openAll(), ended]).finally(() => clearInterval(watch))
      // Keeps measuring for a while, because responses may still be in progress.
      for (let at = 0; at < 20; at += 1) {
        await fetch(`${server.url}/api/auth/mode`).then((response) => response.arrayBuffer())
        look()
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      if (isFull)
        await expect
          .poll(() => connections(), { timeout: 45_000, interval: 500 })
          .toBeLessThan(READERS / 10)
      for (const socket of sockets) socket.destroy()
      expect(most - before).toBeLessThan(150 * 1024 * 1024)
    },
  )
})
