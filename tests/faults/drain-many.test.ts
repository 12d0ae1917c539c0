// SIGTERM under load: requests in flight get a response, streams end cleanly, unfinished runs resume after a restart.
import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { openEvents } from '../support/server/events.ts'
import { databaseKeys } from '../support/server/server.ts'
import {
  type ServerPlace,
  type ServerProcess,
  serverPlace,
} from '../support/server/server-process.ts'
import { useDatabases } from '../support/store/databases.ts'
import { DIALECTS } from '../support/store/dialects.ts'

const isFull = process.env.FAULTS === 'full'
const STREAMS = isFull ? 50 : 10
const REQUESTS = isFull ? 20 : 6

/** Sends part of a request, so that it stays in flight until `finish`, which resolves to the status. */
async function beginRequest(url: string, body: string): Promise<{ finish(): Promise<number> }> {
  const request = httpRequest(url, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
  })
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve)
    request.on('error', reject)
  })
  // `finish` handles the rejection.
  answered.catch(() => {})
  await new Promise<void>((resolve, reject) => {
    request.write(body.slice(0, 5), (error) => (error ? reject(error) : resolve()))
  })
  return {
    async finish() {
      request.end(body.slice(5))
      const answer = await answered
      answer.resume()
      return answer.statusCode ?? 0
    },
  }
}

const dialects = isFull ? DIALECTS : (['sqlite'] as const)

describe.each(dialects)('SIGTERM under load (%s)', (dialect) => {
  const databases = useDatabases()
  let upstream: Upstream
  let folder: string
  let place: ServerPlace
  let server: ServerProcess

  beforeAll(async () => {
    upstream = await startUpstream()
    folder = mkdtempSync(join(tmpdir(), 'nanoclaw-drain-'))
    place = await serverPlace(folder, {
      ...databaseKeys(await databases.settings(dialect)),
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      shutdown_grace: isFull ? 4 : 2,
      log_level: 'warn',
      limits: { runs_per_user: 100 },
    })
    server = await place.start()
  })
  afterAll(async () => {
    await place.close()
    await upstream.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const post = async (path: string, body: object) =>
    await fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  async function makeConversation(): Promise<string> {
    const { data } = (await (await post('/api/conversations', {})).json()) as {
      data: { id: string }
    }
    return data.id
  }

  test(`${STREAMS} streams end cleanly, ${REQUESTS} requests get a response, and unfinished runs continue after the next start`, async () => {
    let release = () => {}
    const soon = new Promise<void>((resolve) => {
      release = resolve
    })
    let isRestarted = false
    upstream.program(({ messages }) => {
      const asked = String(messages.findLast(({ role }) => role === 'user')?.content)
      if (isRestarted) return turn.text(`${asked}: after the start.`)
      const until = asked.startsWith('Soon') ? soon : new Promise(() => {})
      return turn.text(`${asked}: in time.`, { until })
    })
    const streams = await Promise.all(
      Array.from({ length: STREAMS }, async (_, at) => {
        const id = await makeConversation()
        const text = `${at % 2 === 0 ? 'Soon' : 'Never'} ${at}`
        const events = await openEvents(`${server.url}/api/conversations/${id}/messages`, {
          body: { text, stream_mode: 'delta' },
        })
        const started = await events.next(({ event }) => event === 'run')
        return { id, text, events, runId: started.data.run_id }
      }),
    )
    for (let at = 0; at < STREAMS; at += 1) await upstream.nextRequest()
    const requests = await Promise.all(
      Array.from({ length: REQUESTS }, (_, at) =>
        beginRequest(`${server.url}/api/conversations`, JSON.stringify({ title: `Title ${at}` })),
      ),
    )
    const idle = await makeConversation()

    process.kill(server.pid, 'SIGTERM')
    await expect
      .poll(async () => (await fetch(`${server.url}/readyz`)).status, { interval: 5 })
      .toBe(503)
    const refused = await post(`/api/conversations/${idle}/messages`, { text: 'Too late' })
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('5')
    release()
    const statuses = await Promise.all(requests.map((request) => request.finish()))
    expect(statuses).toEqual(statuses.map(() => 200))
    const ends = await Promise.all(streams.map(async ({ events }) => (await events.all()).at(-1)))
    expect(ends.filter((end) => end?.event === 'done')).toHaveLength(STREAMS / 2)
    expect(await server.exited).toEqual({ code: 0, signal: null })

    isRestarted = true
    server = await place.start()
    for (const { id, text, events, runId } of streams) {
      const later = await openEvents(`${server.url}/api/runs/${runId}/events?stream_mode=delta`, {
        headers: { 'last-event-id': String(events.events.at(-1)?.id) },
      })
      const all = [...events.events, ...(await later.all())]
      expect(all.filter(({ event }) => event === 'done' || event === 'error')).toHaveLength(1)
      expect(all.at(-1)?.event).toBe('done')
      const page = await fetch(`${server.url}/api/conversations/${id}/messages`)
      const { data } = (await page.json()) as { data: { items: { text: string }[] } }
      expect(data.items.map((item) => item.text)).toEqual([
        text,
        text.startsWith('Soon') ? `${text}: in time.` : `${text}: after the start.`,
      ])
    }
    await server.kill('SIGTERM')
  })
})
