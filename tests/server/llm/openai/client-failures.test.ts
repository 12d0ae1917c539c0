// The failures of a provider and the stops of a run, as the client for OpenAI-compatible providers reports them.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { llmRequest, readResponse } from '../../../support/provider/llm.ts'
import { refusingUrl } from '../../../support/provider/upstream.ts'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { KEY, textChunk, useClient } from './use-client.ts'

const { upstream, clientFor, http } = useClient()

describe('failures', () => {
  const failureOf = async (client = clientFor()) => {
    const response = await readResponse(client)
    if (response.end.type !== 'failed') throw new Error('expected a failure')
    const shown = `${response.end.error.message} ${JSON.stringify(response.end.error.details)}`
    expect(shown).not.toContain(KEY)
    expect(shown).not.toContain('127.0.0.1')
    expect(shown).toContain('Model M')
    return { ...response, error: response.end.error }
  }

  test.each([
    [400, 'model_refused', false],
    [401, 'model_unauthorized', false],
    [403, 'model_unauthorized', false],
    [404, 'model_not_found', false],
    [429, 'model_rate_limited', true],
    [500, 'model_unavailable', true],
    [503, 'model_unavailable', true],
    [302, 'model_bad_answer', false],
  ])('status %i is reported as %s', async (status, code, retryable) => {
    upstream.enqueue(turn.error(status, `no good: ${KEY} at http://127.0.0.1/x`))
    const { error } = await failureOf()
    expect([error.code, error.retryable]).toEqual([code, retryable])
    expect(upstream.requests).toHaveLength(1)
  })

  test('a 429 keeps the value of Retry-After, in seconds or as a date', async () => {
    upstream.enqueue(
      turn.rateLimited(7),
      turn.rateLimited(new Date(Date.now() + 30_000).toUTCString()),
    )
    expect((await failureOf()).error.retryAfter).toBe(7)
    expect((await failureOf()).error.retryAfter).toBeGreaterThan(20)
  })

  test('an error whose body never ends is recognised by its status', async () => {
    const endless = turn.raw(['x'.repeat(100_000), { finish: 'stall' }])
    upstream.enqueue(
      { ...turn.raw(['{', { finish: 'stall' }]), status: 500 },
      { ...endless, status: 400 },
    )
    expect((await failureOf()).error.code).toBe('model_unavailable')
    expect((await failureOf()).error.code).toBe('model_refused')
  })

  test('an invalid status is a failure like others', async () => {
    upstream.enqueue({ ...turn.error(999), status: 999 }, { ...turn.raw(['']), status: 204 })
    expect((await failureOf()).error.code).toBe('model_unavailable')
    expect((await failureOf()).error.code).toBe('model_refused')
  })

  test('a conversation that is too long is reported as such', async () => {
    upstream.enqueue(turn.error(400, "This model's maximum context length is 8192 tokens."))
    expect((await failureOf()).error.code).toBe('model_context_exceeded')
  })

  test('a refused connection, an unknown host, a closed and a reset connection are reported as unavailable', async () => {
    upstream.enqueue(turn.beforeHeaders('fin'), turn.beforeHeaders('reset'))
    const dead = clientFor({ api_url: await refusingUrl() })
    const nowhere = clientFor({ api_url: 'http://nowhere.invalid/v1' })
    for (const client of [dead, nowhere, clientFor(), clientFor()])
      expect((await failureOf(client)).error.code).toBe('model_unavailable')
  })

  test('a web page instead of an API is a failure', async () => {
    upstream.enqueue(turn.html(), turn.html(404), turn.raw(['hello\nworld\n']))
    expect((await failureOf()).error.code).toBe('model_bad_answer')
    expect((await failureOf()).error.code).toBe('model_not_found')
    expect((await failureOf()).error.code).toBe('model_stream_broken')
  })

  test.each(['end', 'fin', 'reset'] as const)(
    'a stream that ends early (%s) keeps the text so far',
    async (how) => {
      upstream.enqueue(turn.cut(turn.text('one two three'), 3, how))
      const response = await failureOf()
      expect([response.text, response.error.code]).toEqual(['one two th', 'model_stream_broken'])
      expect(response.end.usage?.completion_tokens).toBeGreaterThan(0)
    },
  )

  test.each([
    [{ error: { message: 'overloaded', code: 503 } }, 'model_unavailable'],
    [{ error: 'something broke' }, 'model_unavailable'],
    [{ error: { message: 'Rate limit reached', type: 'rate_limit_error' } }, 'model_rate_limited'],
    [{ object: 'error', message: 'bad request', code: 400 }, 'model_refused'],
  ])(
    'the error object %j in the middle of a stream keeps the text so far',
    async (object, code) => {
      upstream.enqueue(turn.chunks([textChunk('partial'), object, textChunk(' never')]))
      const response = await failureOf()
      expect([response.text, response.error.code]).toEqual(['partial', code])
    },
  )

  test('an error object in the body of a 200 is a failure', async () => {
    upstream.enqueue(
      turn.json(200, { error: { message: 'bad key', type: 'authentication_error' } }),
    )
    expect((await failureOf()).error.code).toBe('model_unauthorized')
  })

  test('silence before or after the first byte ends the answer at the idle limit and keeps the text so far', async () => {
    upstream.enqueue(
      turn.beforeHeaders('stall'),
      turn.cut(turn.text('one two'), 0, 'stall'),
      turn.cut(turn.text('one two'), 2, 'stall'),
    )
    const client = clientFor({ idle_timeout: 1 })
    for (const text of ['', '', 'one t']) {
      const response = await failureOf(client)
      expect([response.text, response.error.code]).toEqual([text, 'model_timeout'])
    }
    for (const request of upstream.requests) expect(await request.closed).toBe('client_left')
  })
})

describe('stopping', () => {
  const stopAfter = async (turnToPlay: ReturnType<typeof turn.text>, when: 'request' | 'text') => {
    upstream.enqueue(turnToPlay)
    const controller = new AbortController()
    const response = readResponse(
      clientFor(),
      llmRequest({ signal: controller.signal }),
      ({ type }) => {
        if (when === 'text' && type === 'text_delta') controller.abort()
      },
    )
    const request = await upstream.nextRequest()
    if (when === 'request') controller.abort()
    expect(await request.closed).toBe('client_left')
    return response
  }

  test('closes the socket before the headers, before the first token and in the middle', async () => {
    expect((await stopAfter(turn.beforeHeaders('stall'), 'request')).end.type).toBe('failed')
    expect((await stopAfter(turn.cut(turn.text('x'), 1, 'stall'), 'request')).end.type).toBe(
      'failed',
    )
    const response = await stopAfter(turn.cut(turn.text('some words'), 2, 'stall'), 'text')
    expect([response.text, response.end.type]).toEqual(['some ', 'failed'])
  })

  test('does not wait for a connection that is still being established', async () => {
    const controller = new AbortController()
    const full = createServer().listen(0, '127.0.0.1')
    await once(full, 'listening')
    // Never null or a path: the server listens on TCP.
    const { port } = full.address() as AddressInfo
    const hanging = http.request({
      url: new URL(`http://127.0.0.1:${port}/`),
      headers: {},
      signal: controller.signal,
    })
    controller.abort()
    await expect(hanging).rejects.toThrow()
    full.close()
  })

  test('sends no request when the run was already stopped', async () => {
    const response = await readResponse(clientFor(), llmRequest({ signal: AbortSignal.abort() }))
    expect(response.end.type).toBe('failed')
    expect(upstream.requests).toHaveLength(0)
  })

  test('a consumer that leaves the stream closes the socket', async () => {
    upstream.enqueue(turn.cut(turn.text('some words'), 2, 'stall'))
    for await (const _batch of clientFor().stream(llmRequest())) break
    expect(await (await upstream.nextRequest()).closed).toBe('client_left')
  })

  test('leaves no listener on the signal of a run', async () => {
    const { signal } = new AbortController()
    let listeners = 0
    const counted = Object.assign(signal, {
      addEventListener: (...given: Parameters<AbortSignal['addEventListener']>) => {
        listeners += 1
        AbortSignal.prototype.addEventListener.call(signal, ...given)
      },
      removeEventListener: (...given: Parameters<AbortSignal['removeEventListener']>) => {
        listeners -= 1
        AbortSignal.prototype.removeEventListener.call(signal, ...given)
      },
    })
    upstream.enqueue(turn.text('a'))
    await readResponse(clientFor(), llmRequest({ signal: counted }))
    expect(listeners).toBe(0)
  })
})
