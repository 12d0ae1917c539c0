// The client for OpenAI-compatible providers: what real ones stream, and every way in which they fail.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { LlmClient } from '../../../../server/llm/client.ts'
import { createOpenAiCompatible } from '../../../../server/llm/openai/client.ts'
import { createProviderHttp } from '../../../../server/llm/openai/provider-http.ts'
import type { ModelSettings } from '../../../../server/protocol/catalog.ts'
import { CallId } from '../../../../server/protocol/ids.ts'
import { hear, llmRequest, outcome } from '../../../support/llm.ts'
import { refusingUrl, startUpstream, type Upstream } from '../../../support/upstream.ts'
import { chunk, dataLine, turn } from '../../../support/upstream-turns.ts'

const KEY = 'sk-very-secret-key'
const http = createProviderHttp()
afterAll(() => http.close())

let upstream: Upstream
beforeEach(async () => {
  upstream = await startUpstream()
})
afterEach(() => upstream.close())

const skipped: number[] = []
const clientFor = (settings: Partial<ModelSettings> = {}, idleTimeout = 30): LlmClient =>
  createOpenAiCompatible({
    settings: { id: 'm', name: 'Model M', api_url: upstream.url, api_key: KEY, ...settings },
    http,
    idleTimeout,
    onSkipped: ({ lines }) => skipped.push(lines),
  })

const says = (content: string) => chunk({ content })
const calling = (...pieces: unknown[]) => chunk({ tool_calls: pieces })
const stop = chunk({}, 'stop')
const callsOf = async (...chunks: unknown[]) => {
  upstream.enqueue(turn.chunks([...chunks, stop]))
  const heard = await hear(clientFor())
  expect(outcome(heard)).toBe('finished:tool_calls')
  return heard.calls.map((call) => [call.name, call.arguments])
}

describe('a plain answer', () => {
  test('arrives whole, with usage, under the id of the model', async () => {
    upstream.enqueue(turn.thinking('let me see', 'Grüße, 世界 🙂', { chunkSize: 1 }))
    const heard = await hear(clientFor())
    expect(heard).toMatchObject({ text: 'Grüße, 世界 🙂', thinking: 'let me see', calls: [] })
    expect(heard.end).toMatchObject({
      reason: 'stop',
      estimated: false,
      model: 'm',
      usage: { prompt_tokens: 10 },
    })
  })

  test('joins the deltas that arrive together into one event', async () => {
    upstream.enqueue(
      turn.raw([[...'abcdefgh'].map((c) => dataLine(says(c))).join(''), dataLine(stop)]),
    )
    const heard = await hear(clientFor())
    expect(heard.text).toBe('abcdefgh')
    expect(heard.batches.flat().filter((event) => event.type === 'text_delta')).toHaveLength(1)
  })

  test('is the same however the bytes are cut', async () => {
    const body = [
      ': comment\r\n\r\n',
      'event: message\r\nid: 7\r\nretry: 10\r\n',
      `data:${JSON.stringify(says('Grüße '))}\r\n\r\n`,
      `data: ${JSON.stringify(says('世界 "q" \\ '))}\n\n`,
      `data: ${JSON.stringify(says('🙂<'))}\r\r`,
      'data:\n\n',
      `data: ${JSON.stringify(says('b>'))}\n\n`,
      `data: ${JSON.stringify(stop)}\n\n`,
      'data: [DONE]',
    ].join('')
    for (const bytes of [1, 2, 3, 7, 64]) {
      upstream.enqueue(turn.slow(turn.raw([body]), bytes, 0))
      const heard = await hear(clientFor())
      expect(heard.text).toBe('Grüße 世界 "q" \\ 🙂<b>')
      expect(outcome(heard)).toBe('finished:stop')
    }
  })

  test('needs no [DONE] after its finish reason, also when the connection stays open', async () => {
    upstream.enqueue(
      turn.chunks([says('a'), stop], { done: false }),
      turn.raw([dataLine(says('b')), dataLine(stop), { finish: 'stall' }]),
      turn.raw([dataLine(says('c')), dataLine(stop), { finish: 'fin' }]),
    )
    for (const text of ['a', 'b', 'c']) {
      const heard = await hear(clientFor())
      expect([heard.text, outcome(heard)]).toEqual([text, 'finished:stop'])
    }
  })

  test('may come whole from a provider that does not stream', async () => {
    upstream.enqueue(
      turn.json(200, {
        choices: [
          { message: { role: 'assistant', content: 'all at once' }, finish_reason: 'stop' },
        ],
        usage: { prompt_tokens: 3, completion_tokens: 4 },
      }),
    )
    const heard = await hear(clientFor())
    expect(heard.text).toBe('all at once')
    expect(heard.end).toMatchObject({ usage: { total_tokens: 7 } })
  })

  test('tells the length limit from a stop', async () => {
    upstream.enqueue(turn.text('cut off', { finishReason: 'length' }))
    expect(outcome(await hear(clientFor()))).toBe('finished:length')
  })

  test('bears null fields, other choices and lines that are no JSON', async () => {
    upstream.enqueue(
      turn.raw([
        dataLine({ choices: null }),
        dataLine({ choices: [{ index: 0, delta: null, finish_reason: null }], usage: null }),
        dataLine(chunk({ content: null, tool_calls: null, reasoning_content: null })),
        'data: {"choices": [{"delta": {"content": "bro\n\n',
        dataLine({ choices: [{ index: 1, delta: { content: 'other answer' } }] }),
        'data: 17\n\n',
        dataLine(says('kept')),
        dataLine(stop),
      ]),
    )
    const heard = await hear(clientFor())
    expect([heard.text, outcome(heard)]).toEqual(['kept', 'finished:stop'])
    expect(skipped.at(-1)).toBe(2)
  })

  test('skips a line of 20 MB and goes on', async () => {
    const long = `data: {"x":"${'x'.repeat(20 * 1024 * 1024)}"}\n\n`
    upstream.enqueue(turn.raw([dataLine(says('a')), long, dataLine(says('b')), dataLine(stop)]))
    const heard = await hear(clientFor())
    expect([heard.text, outcome(heard)]).toEqual(['ab', 'finished:stop'])
    expect(skipped.at(-1)).toBe(1)
  })
})

describe('usage', () => {
  const usage = (completion: number) => ({
    usage: { prompt_tokens: 5, completion_tokens: completion, total_tokens: 5 + completion },
  })

  test('is read from a last chunk without choices, from every chunk, and from the finish chunk', async () => {
    upstream.enqueue(
      turn.chunks([says('a'), stop, { choices: [], ...usage(3) }]),
      turn.chunks([
        { ...says('a'), ...usage(1) },
        { ...says('b'), ...usage(2) },
        { ...stop, ...usage(3) },
      ]),
      turn.chunks([says('a'), { ...stop, ...usage(3) }]),
    )
    for (let round = 0; round < 3; round += 1)
      expect((await hear(clientFor())).end).toMatchObject({
        estimated: false,
        usage: { completion_tokens: 3, total_tokens: 8 },
      })
  })

  test('is estimated and marked so when there is none', async () => {
    upstream.enqueue(turn.text('a fairly long answer of some words', { usage: null }))
    const { end } = await hear(clientFor())
    expect(end).toMatchObject({ estimated: true })
    expect(end.usage?.completion_tokens).toBeGreaterThan(4)
    expect(end.usage?.prompt_tokens).toBeGreaterThan(0)
  })
})

describe('reasoning', () => {
  test('is read from reasoning_content, from reasoning, once when both are there', async () => {
    upstream.enqueue(
      turn.chunks([chunk({ reasoning_content: 'R' }), says('A'), stop]),
      turn.chunks([chunk({ reasoning: 'R' }), says('A'), stop]),
      turn.chunks([
        chunk({ reasoning: 'R', reasoning_content: 'R', content: '' }),
        says('A'),
        stop,
      ]),
    )
    for (let round = 0; round < 3; round += 1)
      expect(await hear(clientFor())).toMatchObject({ thinking: 'R', text: 'A' })
  })

  test('is read from <think> tags in the text, wherever the chunks are cut', async () => {
    const whole = '<think>\nWhat < now?\n</think>\n\nThe answer is 1 < 2.'
    for (let at = 1; at < whole.length; at += 1) {
      upstream.enqueue(turn.chunks([says(whole.slice(0, at)), says(whole.slice(at)), stop]))
      expect(await hear(clientFor())).toMatchObject({
        thinking: 'What < now?\n',
        text: 'The answer is 1 < 2.',
      })
    }
  })

  test('leaves tags alone in an answer that speaks about them', async () => {
    for (const text of [
      'Use `<think>` tags.',
      '```\n<think>x</think>\n```\n',
      'Say "<think>".',
      'a <thin',
    ]) {
      upstream.enqueue(turn.text(text, { chunkSize: 3 }))
      expect(await hear(clientFor())).toMatchObject({ thinking: '', text })
    }
  })

  test('an answer that never leaves its thoughts has no text', async () => {
    upstream.enqueue(turn.text('<think>on and on', { chunkSize: 2 }))
    expect(await hear(clientFor())).toMatchObject({ thinking: 'on and on', text: '' })
  })
})

describe('tool calls', () => {
  test('are put together from deltas as OpenAI sends them', async () => {
    const calls = await callsOf(
      calling({ index: 0, id: 'a', type: 'function', function: { name: 'clock', arguments: '' } }),
      calling({ index: 0, function: { arguments: '{"zone":' } }),
      calling({ index: 0, function: { arguments: '"UTC"}' } }),
      calling({ index: 1, id: 'b', type: 'function', function: { name: 'sum', arguments: '{}' } }),
    )
    expect(calls).toEqual([
      ['clock', '{"zone":"UTC"}'],
      ['sum', '{}'],
    ])
  })

  test.each([
    [
      'the id comes again with each piece',
      [
        { index: 0, id: 'a', function: { name: 'f', arguments: '{"a"' } },
        { index: 0, id: 'a', function: { name: 'f', arguments: ':1}' } },
      ],
    ],
    [
      'the id is empty after the first piece',
      [
        { index: 0, id: 'a', function: { name: 'f', arguments: '{"a"' } },
        { index: 0, id: '', function: { name: null, arguments: ':1}' } },
      ],
    ],
    [
      'there is no id at all',
      [
        { index: 0, function: { name: 'f', arguments: '{"a"' } },
        { index: 0, function: { arguments: ':1}' } },
      ],
    ],
    [
      'another id comes with each piece',
      [
        { index: 0, id: 'a', function: { name: 'f', arguments: '{"a"' } },
        { index: 0, id: 'b', function: { arguments: ':1}' } },
      ],
    ],
    [
      'there is no index',
      [{ id: 'a', function: { name: 'f', arguments: '{"a"' } }, { function: { arguments: ':1}' } }],
    ],
    [
      'the index is negative',
      [
        { index: -1, id: 'a', function: { name: 'f', arguments: '{"a"' } },
        { index: -1, function: { arguments: ':1}' } },
      ],
    ],
    [
      'the index is text',
      [
        { index: '0', id: 'a', function: { name: 'f', arguments: '{"a"' } },
        { index: '0', function: { arguments: ':1}' } },
      ],
    ],
    [
      'the arguments are an object',
      [{ index: 0, id: 'a', function: { name: 'f', arguments: { a: 1 } } }],
    ],
  ])('are whole when %s', async (_case, pieces) => {
    expect(await callsOf(...pieces.map((piece) => calling(piece)))).toEqual([['f', '{"a":1}']])
  })

  test('take a name that comes in pieces', async () => {
    expect(
      await callsOf(
        calling({ index: 0, id: 'a', function: { name: 'get_' } }),
        calling({ index: 0, function: { name: 'weather' } }),
        calling({ index: 0, function: { arguments: '{}' } }),
      ),
    ).toEqual([['get_weather', '{}']])
  })

  test('with nothing for arguments have an empty object', async () => {
    expect(
      await callsOf(calling({ index: 0, id: 'a', function: { name: 'f', arguments: '' } })),
    ).toEqual([['f', '{}']])
    expect(
      await callsOf(calling({ index: 0, id: 'a', function: { name: 'f', arguments: null } })),
    ).toEqual([['f', '{}']])
    expect(await callsOf(calling({ index: 0, id: 'a', function: { name: 'f' } }))).toEqual([
      ['f', '{}'],
    ])
  })

  test('several in one chunk stay apart: by index, by position, under the same index', async () => {
    const f = { id: 'a', function: { name: 'f', arguments: '{"n":1}' } }
    const g = { id: 'b', function: { name: 'f', arguments: '{"n":2}' } }
    const both = [
      ['f', '{"n":1}'],
      ['f', '{"n":2}'],
    ]
    expect(await callsOf(calling({ index: 0, ...f }, { index: 1, ...g }))).toEqual(both)
    expect(await callsOf(calling(f, g))).toEqual(both)
    expect(await callsOf(calling({ function: f.function }, { function: g.function }))).toEqual(both)
    expect(await callsOf(calling({ index: 0, ...f }, { index: 0, ...g }))).toEqual(both)
    expect(await callsOf(calling({ index: 0, ...f }), calling({ index: 0, ...g }))).toEqual(both)
    expect(await callsOf(calling({ index: 3, ...f }), calling({ index: 9, ...g }))).toEqual(both)
    expect(
      await callsOf(
        calling({ index: 0, function: f.function }),
        calling({ index: 0, function: g.function }),
      ),
    ).toEqual(both)
  })

  test('have ids that are never empty or too long', async () => {
    upstream.enqueue(
      turn.chunks([
        calling(
          { id: 'call_0', function: { name: 'f' } },
          { id: '', function: { name: 'g' } },
          { id: 'x'.repeat(201), function: { name: 'h' } },
        ),
        stop,
      ]),
    )
    const { calls } = await hear(clientFor(), llmRequest())
    const ids = calls.map((call) => call.id)
    expect(ids[0]).toBe('call_0')
    expect(new Set(ids).size).toBe(3)
    for (const id of ids) expect(CallId.safeParse(id).success).toBe(true)
  })

  test('in the form before tools were called tools', async () => {
    expect(
      await callsOf(
        chunk({ function_call: { name: 'f', arguments: '{"a"' } }),
        chunk({ function_call: { arguments: ':1}' } }),
      ),
    ).toEqual([['f', '{"a":1}']])
  })
})

describe('failures', () => {
  const failureOf = async (client = clientFor()) => {
    const heard = await hear(client)
    if (heard.end.type !== 'failed') throw new Error('expected a failure')
    const shown = `${heard.end.error.message} ${JSON.stringify(heard.end.error.details)}`
    expect(shown).not.toContain(KEY)
    expect(shown).not.toContain('127.0.0.1')
    expect(shown).toContain('Model M')
    return { ...heard, error: heard.end.error }
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
  ])('status %i is %s', async (status, code, retryable) => {
    upstream.enqueue(turn.error(status, `no good: ${KEY} at http://127.0.0.1/x`))
    const { error } = await failureOf()
    expect([error.code, error.retryable]).toEqual([code, retryable])
    expect(upstream.requests).toHaveLength(1)
  })

  test('a 429 keeps what Retry-After says, in seconds or as a date', async () => {
    upstream.enqueue(
      turn.rateLimited(7),
      turn.rateLimited(new Date(Date.now() + 30_000).toUTCString()),
    )
    expect((await failureOf()).error.retryAfter).toBe(7)
    expect((await failureOf()).error.retryAfter).toBeGreaterThan(20)
  })

  test('an error is known by its status when its body never ends, or is endless', async () => {
    const endless = turn.raw(['x'.repeat(100_000), { finish: 'stall' }])
    upstream.enqueue(
      { ...turn.raw(['{', { finish: 'stall' }]), status: 500 },
      { ...endless, status: 400 },
    )
    expect((await failureOf()).error.code).toBe('model_unavailable')
    expect((await failureOf()).error.code).toBe('model_refused')
  })

  test('a status that is none does no harm', async () => {
    upstream.enqueue({ ...turn.error(999), status: 999 }, { ...turn.raw(['']), status: 204 })
    expect((await failureOf()).error.code).toBe('model_unavailable')
    expect((await failureOf()).error.code).toBe('model_refused')
  })

  test('a conversation that is too long is named so', async () => {
    upstream.enqueue(turn.error(400, "This model's maximum context length is 8192 tokens."))
    expect((await failureOf()).error.code).toBe('model_context_exceeded')
  })

  test('a refused connection, an unknown host, a closed and a reset connection', async () => {
    upstream.enqueue(turn.beforeHeaders('fin'), turn.beforeHeaders('reset'))
    const dead = clientFor({ api_url: await refusingUrl() })
    const nowhere = clientFor({ api_url: 'http://nowhere.invalid/v1' })
    for (const client of [dead, nowhere, clientFor(), clientFor()])
      expect((await failureOf(client)).error.code).toBe('model_unavailable')
  })

  test('a page instead of an API', async () => {
    upstream.enqueue(turn.html(), turn.html(404), turn.raw(['hello\nworld\n']))
    expect((await failureOf()).error.code).toBe('model_bad_answer')
    expect((await failureOf()).error.code).toBe('model_not_found')
    expect((await failureOf()).error.code).toBe('model_stream_broken')
  })

  test.each(['end', 'fin', 'reset'] as const)(
    'a stream that ends early (%s) keeps what came',
    async (how) => {
      upstream.enqueue(turn.cut(turn.text('one two three'), 3, how))
      const heard = await failureOf()
      expect([heard.text, heard.error.code]).toEqual(['one two th', 'model_stream_broken'])
      expect(heard.end.usage?.completion_tokens).toBeGreaterThan(0)
    },
  )

  test.each([
    [{ error: { message: 'overloaded', code: 503 } }, 'model_unavailable'],
    [{ error: 'something broke' }, 'model_unavailable'],
    [{ error: { message: 'Rate limit reached', type: 'rate_limit_error' } }, 'model_rate_limited'],
    [{ object: 'error', message: 'bad request', code: 400 }, 'model_refused'],
  ])('an error object in mid-stream %j keeps what came', async (object, code) => {
    upstream.enqueue(turn.chunks([says('partial'), object, says(' never')]))
    const heard = await failureOf()
    expect([heard.text, heard.error.code]).toEqual(['partial', code])
  })

  test('an error object in the body of a 200', async () => {
    upstream.enqueue(
      turn.json(200, { error: { message: 'bad key', type: 'authentication_error' } }),
    )
    expect((await failureOf()).error.code).toBe('model_unauthorized')
  })

  test('silence before and after the first byte ends at the idle limit and keeps what came', async () => {
    upstream.enqueue(
      turn.beforeHeaders('stall'),
      turn.cut(turn.text('one two'), 0, 'stall'),
      turn.cut(turn.text('one two'), 2, 'stall'),
    )
    const client = clientFor({ idle_timeout: 1 })
    for (const text of ['', '', 'one t']) {
      const heard = await failureOf(client)
      expect([heard.text, heard.error.code]).toEqual([text, 'model_timeout'])
    }
    for (const request of upstream.requests) expect(await request.closed).toBe('client_left')
  })
})

describe('stopping', () => {
  const stopAfter = async (turnToPlay: ReturnType<typeof turn.text>, when: 'request' | 'text') => {
    upstream.enqueue(turnToPlay)
    const controller = new AbortController()
    const heard = hear(clientFor(), llmRequest({ signal: controller.signal }), (batch) => {
      if (when === 'text' && batch.some((event) => event.type === 'text_delta')) controller.abort()
    })
    const request = await upstream.nextRequest()
    if (when === 'request') controller.abort()
    expect(await request.closed).toBe('client_left')
    return heard
  }

  test('closes the socket before the headers, before the first token and in the middle', async () => {
    expect((await stopAfter(turn.beforeHeaders('stall'), 'request')).end.type).toBe('failed')
    expect((await stopAfter(turn.cut(turn.text('x'), 1, 'stall'), 'request')).end.type).toBe(
      'failed',
    )
    const heard = await stopAfter(turn.cut(turn.text('some words'), 2, 'stall'), 'text')
    expect([heard.text, heard.end.type]).toEqual(['some ', 'failed'])
  })

  test('does not wait for a connection that is still being made', async () => {
    const controller = new AbortController()
    const full = createServer().listen(0, '127.0.0.1')
    await once(full, 'listening')
    // A server that listens on TCP has an AddressInfo.
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
    const heard = await hear(clientFor(), llmRequest({ signal: AbortSignal.abort() }))
    expect(heard.end.type).toBe('failed')
    expect(upstream.requests).toHaveLength(0)
  })

  test('a listener that leaves the stream closes the socket', async () => {
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
    await hear(clientFor(), llmRequest({ signal: counted }))
    expect(listeners).toBe(0)
  })
})
