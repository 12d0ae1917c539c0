// All provider failures through the whole server: one terminal event, a clear code, received text is kept, no leaks.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusingUrl, startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { chunk, dataLine, type Turn, turn } from '../support/provider/upstream-turns.ts'
import { openEvents } from '../support/server/events.ts'
import { type TestServer, useServers } from '../support/server/server.ts'

const partial = turn.text('one two three four')
const said = dataLine(chunk({ content: 'kept' }))
const stop = dataLine(chunk({}, 'stop'))

interface Fault {
  /** The turn for every model request, retries included. */
  answer: Turn
  /** The expected error code, or `done`. */
  end: string
  text: string
  /** The expected number of requests to the provider. */
  tries: number
}

const faults: Record<string, Fault> = {
  'status 400': { answer: turn.error(400), end: 'model_refused', text: '', tries: 1 },
  'status 401': { answer: turn.error(401), end: 'model_unauthorized', text: '', tries: 1 },
  'status 404': { answer: turn.error(404), end: 'model_not_found', text: '', tries: 1 },
  'status 429': { answer: turn.rateLimited(0), end: 'model_rate_limited', text: '', tries: 4 },
  'status 500': {
    answer: turn.error(500, 'x', { 'retry-after': '0' }),
    end: 'model_unavailable',
    text: '',
    tries: 4,
  },
  'a redirect': {
    answer: turn.json(302, {}, { location: 'http://127.0.0.1:1/' }),
    end: 'model_bad_answer',
    text: '',
    tries: 1,
  },
  'a page': { answer: turn.html(200), end: 'model_bad_answer', text: '', tries: 1 },
  'a reset before the headers': {
    answer: turn.beforeHeaders('reset'),
    end: 'model_unavailable',
    text: '',
    tries: 4,
  },
  'silence before the headers': {
    answer: turn.beforeHeaders('stall'),
    end: 'model_timeout',
    text: '',
    tries: 1,
  },
  'silence in the middle': {
    answer: turn.cut(partial, 3, 'stall'),
    end: 'model_timeout',
    text: 'one two th',
    tries: 1,
  },
  'an end in the middle': {
    answer: turn.cut(partial, 3, 'end'),
    end: 'model_stream_broken',
    text: 'one two th',
    tries: 1,
  },
  'a FIN in the middle': {
    answer: turn.cut(partial, 3, 'fin'),
    end: 'model_stream_broken',
    text: 'one two th',
    tries: 1,
  },
  'a reset in the middle': {
    answer: turn.cut(partial, 3, 'reset'),
    end: 'model_stream_broken',
    text: 'one two th',
    tries: 1,
  },
  'an error in the middle': {
    answer: turn.raw([
      said,
      dataLine({ error: { message: 'at http://127.0.0.1:9/x', code: 503 } }),
    ]),
    end: 'model_unavailable',
    text: 'kept',
    tries: 1,
  },
  'broken JSON': {
    answer: turn.raw([said, 'data: {"cho\n\n', stop]),
    end: 'done',
    text: 'kept',
    tries: 1,
  },
  'a line of 20 MB': {
    answer: turn.raw([`data: ${'x'.repeat(20_000_000)}\n\n`, said, stop]),
    end: 'done',
    text: 'kept',
    tries: 1,
  },
  'one byte at a time': {
    answer: turn.slow(turn.text('世界'), 1, 0),
    end: 'done',
    text: '世界',
    tries: 1,
  },
  'no [DONE]': { answer: turn.raw([said, stop]), end: 'done', text: 'kept', tries: 1 },
}

const names = Object.keys(faults)
const keyOf = (name: string): string => `sk-secret-${names.indexOf(name)}-canary`

describe('a provider that fails', () => {
  const servers = useServers()
  let upstream: Upstream
  let server: TestServer
  beforeAll(async () => {
    upstream = await startUpstream()
    upstream.program((request) => {
      const name = names.find((known) => request.apiKey === keyOf(known))
      return name === undefined ? undefined : faults[name]?.answer
    })
    server = await servers.start({
      config: {
        models: [
          ...names.map((name) => ({
            id: name,
            api_url: upstream.url,
            api_key: keyOf(name),
            // Only silence has to wait for this timeout, in seconds.
            idle_timeout: name.startsWith('silence') ? 2 : 30,
          })),
          { id: 'nobody', api_url: await refusingUrl(), fallback: ['no [DONE]'] },
        ],
        titles: 'off',
        limits: { runs_per_user: 100 },
      },
    })
  })
  afterAll(() => upstream.close())

  const send = async (model: string) => {
    const { json } = await server.call('POST', '/api/conversations', { body: { model } })
    const path = `/api/conversations/${json.data.id}/messages`
    const reader = await openEvents(server.url + path, {
      body: { text: 'go', stream_mode: 'delta' },
    })
    const events = await reader.all()
    const stored = (await server.call('GET', path)).json.data.items
    return { events, stored, answer: stored.at(-1) }
  }

  // Concurrent, because some of them wait between retries.
  test.concurrent.each(names)(
    'with %s, the run ends once, with its reason, the text so far and its number of attempts',
    async (name) => {
      const fault = faults[name]
      if (fault === undefined) throw new Error('unreachable')
      const { events, stored, answer } = await send(name)
      const ends = events.filter(({ event }) => event === 'done' || event === 'error')
      expect(ends).toHaveLength(1)
      expect(events.at(-1)).toBe(ends[0])
      expect(ends[0]?.event === 'done' ? 'done' : ends[0]?.data.code).toBe(fault.end)
      expect(answer).toMatchObject({
        role: 'assistant',
        text: fault.text,
        status: fault.end === 'done' ? 'completed' : 'failed',
      })
      expect(upstream.requests.filter(({ apiKey }) => apiKey === keyOf(name))).toHaveLength(
        fault.tries,
      )
      const seen = JSON.stringify([events, stored])
      expect(seen).not.toMatch(/canary|127\.0\.0\.1/)
    },
  )

  test.concurrent('after a refused connection the fallback answers', async () => {
    const { events, answer } = await send('nobody')
    expect(events.at(-1)?.event).toBe('done')
    expect(answer.text).toBe('kept')
  })

  test('keeps the server running and leaves no key in its log', async () => {
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    expect(server.logged()).not.toContain('canary')
  })
})
