// Clients that read a run's stream too slowly: bounded memory, disconnected when stalled, kept when merely slow.
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CallId } from '../../../../server/protocol/ids.ts'
import type { ToolProgressNotice } from '../../../../server/protocol/runs/run-event.ts'
import { streamRun } from '../../../../server/routes/runs/run-stream.ts'
import { createRunLog, type RunLog } from '../../../../server/runs/log/log.ts'
import { openEvents, type ReceivedEvent } from '../../../support/server/events.ts'

/** Soon enough to wait for. */
const SHORT_STALL_MS = 400
/** What a slow machine needs to emit everything while nobody reads. */
const LONG_STALL_MS = 2_500
/** Number of pieces; more than the socket buffers of both ends hold. */
const MUCH = 120
const PIECE = 'x'.repeat(100_000)

const output = (text: string): ToolProgressNotice => ({
  id_ref: CallId.parse('call_1'),
  progress: { kind: 'output', stream: 'stdout', text },
})

let app: FastifyInstance
let port: number
let runLog: RunLog
let responses: ServerResponse[]
let stallMs: number

beforeEach(async () => {
  runLog = createRunLog({ entries: [], steps: [], lastId: 0 })
  responses = []
  stallMs = SHORT_STALL_MS
  app = Fastify()
  app.get<{ Headers: { 'last-event-id'?: string } }>('/', (request, reply) => {
    responses.push(reply.raw)
    const { 'last-event-id': lastId } = request.headers
    streamRun(reply, runLog, {
      mode: 'delta',
      afterId: lastId === undefined ? null : Number(lastId),
      stallMs,
    })
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  port = typeof address === 'object' && address !== null ? address.port : 0
})
afterEach(async () => {
  app.server.closeAllConnections()
  await app.close()
})

/** Connects without reading; resolves once the server has registered the listener. */
async function openSocket(): Promise<{ socket: Socket; response: ServerResponse }> {
  const socket = connect(port, '127.0.0.1').pause()
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 0\r\n\r\n')
  await expect.poll(() => runLog.listenerCount).toBe(1)
  const response = responses.at(-1)
  if (response === undefined) throw new Error('no response')
  return { socket, response }
}

/** Emits the pieces as a model would: each in its own turn of the event loop. */
async function emitMuch(): Promise<void> {
  for (let piece = 0; piece < MUCH; piece += 1) {
    runLog.appendProse(0, 'text', PIECE)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const closed = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => response.once('close', resolve))

test('a reader that never reads uses little memory, is disconnected, and gets everything when it reconnects', async () => {
  const { socket, response } = await openSocket()
  const dropped = closed(response)
  await emitMuch()
  expect(response.writableLength).toBeGreaterThan(0)
  expect(response.writableLength).toBeLessThan(2_000_000)
  await dropped
  expect(runLog.listenerCount).toBe(0)
  socket.destroy()

  runLog.closeProse(0)
  runLog.appendEvent({ event: 'error', content: 'over', code: 'internal', retryable: false })
  const events: ReceivedEvent[] = []
  // On a busy machine the client may be disconnected again before it has caught up.
  while (events.at(-1)?.event !== 'error') {
    const headers = { 'last-event-id': String(events.at(-1)?.id ?? 0) }
    const back = await openEvents(`http://127.0.0.1:${port}/`, { headers })
    events.push(...(await back.all()))
  }
  const received = events.map(({ data }) => data.delta ?? '').join('')
  expect(received.length).toBe(MUCH * PIECE.length)
  // Pieces missed by a slow client arrive merged, under the id of the last one.
  const ids = events.map(({ id }) => id)
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))
})

test('a reader that catches up in time stays connected, whatever live output it missed', async () => {
  stallMs = LONG_STALL_MS
  const { socket, response } = await openSocket()
  let isOpen = true
  void closed(response).then(() => {
    isOpen = false
  })
  await emitMuch()
  const before = response.writableLength
  for (let line = 0; line < 50; line += 1) runLog.reportProgress(output(PIECE))
  expect(response.writableLength, 'live output does not wait in memory').toBe(before)

  let received = ''
  socket.on('data', (bytes) => {
    received = (received + bytes.toString()).slice(-1_000)
  })
  socket.resume()
  runLog.appendProse(0, 'text', 'the end')
  await expect.poll(() => received).toContain('the end')
  // From now on it reads, for longer than the stall timeout.
  const began = performance.now()
  for (let tick = 0; performance.now() - began < stallMs * 1.25; tick += 1) {
    runLog.reportProgress(output(`tick ${tick}.`))
    await expect.poll(() => received, { interval: 20 }).toContain(`tick ${tick}.`)
  }
  expect(isOpen).toBe(true)
  socket.destroy()
})

test('live output reaches a reader that keeps up', async () => {
  const reader = await openEvents(`http://127.0.0.1:${port}/`)
  runLog.reportProgress(output('now'))
  const event = await reader.next(({ event }) => event === 'tool_progress')
  expect(event.data).toEqual(output('now'))
  reader.leave()
})
