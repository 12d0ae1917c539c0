// A connection cut at any byte: a client that reconnects with its last event id gets every event once, in order.

import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { randomFrom, SEED } from '../support/random.ts'
import { openEvents, type ReceivedEvent } from '../support/server/events.ts'
import { type TestServer, useServers } from '../support/server/server.ts'

const CUTS = process.env.FAULTS === 'full' ? 500 : 50
const random = randomFrom(SEED)
const LISTENERS = 12
const TEXT = Array.from({ length: 300 }, (_, at) => `${at} 个字符 – ünïcode 🦀 `).join('')

let upstream: Upstream
let server: TestServer
const { start } = useServers()
beforeAll(async () => {
  upstream = await startUpstream()
  server = await start({
    config: { models: [{ id: 'scripted', api_url: upstream.url }], titles: 'off' },
  })
})
afterAll(() => upstream.close())

/** Reads at most `bytes` of the stream, then cuts the connection; resolves to the events that arrived complete. */
function readAndCut(url: string, after: number, bytes: number): Promise<ReceivedEvent[]> {
  return new Promise((resolve) => {
    const received: Buffer[] = []
    let length = 0
    const finish = (): void => {
      // Only what ends with a blank line is an event; the bytes after it are discarded.
      const text = Buffer.concat(received).subarray(0, bytes).toString('utf8')
      const frames = text.slice(0, text.lastIndexOf('\n\n') + 2).split('\n\n')
      resolve(frames.flatMap(readFrame))
    }
    const request = httpRequest(
      url,
      { headers: { 'last-event-id': String(after) }, agent: false },
      (response) => {
        response.on('data', (chunk: Buffer) => {
          received.push(chunk)
          length += chunk.length
          if (length >= bytes) request.destroy()
        })
        response.on('close', finish)
      },
    )
    request.on('error', () => {})
    request.end()
  })
}

function readFrame(frame: string): ReceivedEvent[] {
  const line = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1]
  const data = line('data')
  if (data === undefined) return []
  return [{ id: Number(line('id')), event: line('event') ?? '', data: JSON.parse(data) }]
}

test(`${CUTS} cuts at random bytes: the pieces equal the uncut stream (SEED=${SEED})`, async () => {
  upstream.enqueue(
    turn.toolCalls([{ name: 'calculator', arguments: { expression: '6*7' } }], {
      thinking: 'Calculate first.',
    }),
    turn.text(TEXT, { delayMs: 2, chunkSize: 3 }),
  )
  const { json } = await server.call('POST', '/api/conversations', { body: {} })
  const control = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
    body: { text: 'Go', stream_mode: 'delta' },
  })
  const started = await control.next(({ event }) => event === 'run')
  const url = `${server.url}/api/runs/${started.data.run_id}/events?stream_mode=delta`
  let cuts = 0

  async function listen(): Promise<ReceivedEvent[]> {
    const events: ReceivedEvent[] = []
    while (events.at(-1)?.event !== 'done') {
      const isLast = cuts >= CUTS
      const bytes = isLast ? Number.MAX_SAFE_INTEGER : 1 + random.below(3_000)
      cuts += 1
      events.push(...(await readAndCut(url, events.at(-1)?.id ?? 0, bytes)))
    }
    return events
  }
  // During the run, and again after its end.
  const live = await Promise.all(Array.from({ length: LISTENERS }, listen))
  const uncut = await control.all()
  const replayed = await Promise.all(Array.from({ length: LISTENERS }, listen))
  while (cuts < CUTS) replayed.push(await listen())
  for (const events of [...live, ...replayed]) expect(events).toEqual(uncut)
  expect(uncut.map(({ id }) => id)).toEqual(uncut.map((_, at) => at + 1))
  expect(cuts).toBeGreaterThanOrEqual(CUTS)
})
