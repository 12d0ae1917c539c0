// Streams of the three APIs that are cut, or whose events come twice or in another order: one end, and what arrived is kept.
import { describe, expect, test } from 'vitest'
import { createEventReader } from '../../../server/llm/anthropic/messages-reader.ts'
import { createAnthropic } from '../../../server/llm/anthropic.ts'
import { createChunkReader } from '../../../server/llm/openai/chunk-reader.ts'
import { createOpenAiCompatible } from '../../../server/llm/openai.ts'
import { createResponses } from '../../../server/llm/responses.ts'
import type { ByteSource } from '../../../server/llm/streaming/provider-http/response-body.ts'
import type { ProviderHttp } from '../../../server/llm/streaming/provider-http.ts'
import { createEventStreamReader } from '../../../server/llm/streaming/streamed-client/event-stream.ts'
import { type ReadResponse, readResponse } from '../../support/provider/llm.ts'
import { messagesTurn } from '../../support/provider/messages-turns.ts'
import { called, reasoned, responsesTurn, said } from '../../support/provider/responses-turns.ts'
import { chunk, dataLine, type Turn, turn } from '../../support/provider/upstream-turns.ts'

const look = { name: 'look', arguments: { at: '日本' } }
const apis = [
  [
    'chat completions',
    createOpenAiCompatible,
    turn.toolCalls([look, look], { text: 'I see 🙂.', thinking: 'Hmm, 思.', chunkSize: 8 }),
  ],
  [
    'the Messages API',
    createAnthropic,
    messagesTurn([
      { type: 'thinking', thinking: 'Hmm, 思.', signature: 'signed' },
      { type: 'text', text: 'I see 🙂.' },
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: look.arguments },
      { type: 'tool_use', id: 'toolu_2', name: 'look', input: look.arguments },
    ]),
  ],
  [
    'the Responses API',
    createResponses,
    responsesTurn([
      reasoned('Hmm, 思.'),
      said('I see 🙂.'),
      called('call_1', 'look', look.arguments),
      called('call_2', 'look', look.arguments),
    ]),
  ],
] as const

/** The events of a turn, as they are sent. */
const eventsOf = ({ actions }: Turn): string[] =>
  actions
    .flatMap((action) => ('send' in action ? [String(action.send)] : []))
    .join('')
    .split(/(?<=\n\n)/)

/** A body of these pieces, each in a read of its own, that then ends or breaks. */
function bodyOf(pieces: Iterable<Buffer>, breaks: boolean): ByteSource {
  const left = pieces[Symbol.iterator]()
  return {
    async read() {
      const { value } = left.next()
      if (value !== undefined) return [value]
      if (breaks) throw new Error('the connection broke')
      return null
    },
    abort() {},
    release() {},
  }
}

/** `first` once, and then `again` for ever. */
function* endless(first: string, again: () => string): Generator<Buffer> {
  yield Buffer.from(first)
  for (;;) yield Buffer.from(again())
}

describe.each(apis)('a stream of %s', (_name, create, whole) => {
  const read = (
    bytes: Buffer | Iterable<Buffer>,
    { breaks = false }: { breaks?: boolean } = {},
  ): Promise<ReadResponse> => {
    const pieces = Buffer.isBuffer(bytes) ? [bytes].filter(({ length }) => length > 0) : bytes
    const http: ProviderHttp = {
      request: async () => ({
        ok: true,
        status: 200,
        headers: new Headers({ 'content-type': 'text/event-stream' }),
        body: bodyOf(pieces, breaks),
      }),
      gatherMs: 50,
      async close() {},
    }
    const settings = { id: 'm', api_url: 'http://127.0.0.1:1/v1', thinking: true }
    // `readResponse` checks that there is exactly one end, and that it is last.
    return readResponse(create({ settings, http, idleTimeout: 30 }))
  }
  const events = eventsOf(whole)

  test('that is cut at any byte ends in one error, and the part that arrived is kept', async () => {
    const bytes = Buffer.from(events.join(''))
    const complete = await read(bytes)
    expect([complete.end.type, complete.calls.length]).toEqual(['finished', 2])
    let kept = 0
    let isWhole = false
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const { end, text, thinking, calls } = await read(bytes.subarray(0, cut), {
        breaks: cut % 2 === 0,
      })
      // Never less than from a shorter piece, and never anything else.
      expect(complete.text.startsWith(text) && complete.thinking.startsWith(thinking)).toBe(true)
      expect(text.length + thinking.length).toBeGreaterThanOrEqual(kept)
      kept = text.length + thinking.length
      if (isWhole) expect(end.type).toBe('finished')
      isWhole = end.type === 'finished'
      expect(calls).toEqual(isWhole ? complete.calls : [])
    }
    expect([isWhole, kept]).toEqual([true, complete.text.length + complete.thinking.length])
  })

  test('with repeated or reordered events has one end and keeps the part before them', async () => {
    const after = await Promise.all(
      events.map((_, at) => read(Buffer.from(events.slice(0, at).join('')))),
    )
    const numbered = create === createResponses
    for (const [at, event] of events.entries()) {
      const next = events[at + 1]
      const twice = [...events.slice(0, at), event, event, ...events.slice(at + 1)]
      const swapped = next === undefined ? twice : events.with(at, next).with(at + 1, event)
      for (const changed of [twice, swapped]) {
        const { end, text, thinking } = await read(Buffer.from(changed.join('')))
        expect(text.startsWith(after[at]?.text ?? '')).toBe(true)
        expect(thinking.startsWith(after[at]?.thinking ?? '')).toBe(true)
        // Where the API numbers its events, everything but the end of the response is noticed.
        const isNoticed = numbered && at > 0 && !(next ?? event).includes('response.completed')
        if (isNoticed)
          expect(end).toMatchObject({
            type: 'failed',
            error: { reason: 'model_stream_disordered' },
          })
      }
    }
  })

  test('whose body is repeated ends in one error, and the first copy is kept once', async () => {
    const body = Buffer.from(events.join(''))
    const complete = await read(body)
    // With the first one, or some time after it.
    for (const pieces of [[Buffer.concat([body, body])], [body, body]])
      expect(await read(pieces)).toMatchObject({
        end: { type: 'failed', error: { reason: 'model_stream_disordered' } },
        text: complete.text,
        thinking: complete.thinking,
        calls: [],
      })
    // An end marker that comes again, and one of another format, mean nothing.
    const marker = Buffer.from(`${events.at(-1)}${dataLine('[DONE]')}: bye\n\n`)
    expect((await read([body, marker])).end.type).toBe('finished')
  })

  test('that never ends is cut off with one error, and the part that arrived is kept', async () => {
    const begun = events.findIndex((event) => event.includes('ee 🙂')) + 1
    const delta = events[begun - 1] ?? ''
    const long = 'x'.repeat(1_000_000)
    let number = 1_000
    const first = events.slice(0, begun).join('')
    const again = delta
      .replace(/"[^"]*ee 🙂[^"]*"/u, JSON.stringify(long))
      .replace(/"sequence_number":\d+/, '"sequence_number":NUMBER')
    const talking = await read(endless(first, () => again.replace('NUMBER', String(number++))))
    expect(talking.end).toMatchObject({ type: 'failed', error: { reason: 'model_answer_endless' } })
    expect(talking.text.length).toBeGreaterThan(10_000_000)
    expect(talking.calls).toEqual([])
    // A stream of comments keeps the connection alive, but not for ever.
    if (create !== createOpenAiCompatible) return
    const silence = `: ${long.repeat(4)}\n\n`
    const silent = await read(endless(first, () => silence))
    expect(silent.end).toMatchObject({ type: 'failed', error: { reason: 'model_answer_endless' } })
    expect(silent.text).not.toBe('')
  })
})

test('a repeated body without an end marker is detected too', async () => {
  const reader = createChunkReader({ model: 'M' })
  const lines = createEventStreamReader(reader.read)
  const chunks = [chunk({ role: 'assistant' }), chunk({ content: 'Hi' }), chunk({}, 'stop')]
  const body = Buffer.from(chunks.map(dataLine).join(''))
  lines.push(body)
  expect([reader.finishReason, reader.error]).toEqual(['stop', null])
  lines.push(body)
  expect(reader.error?.reason).toBe('model_stream_disordered')
  expect(reader.end()).toEqual([{ type: 'text_delta', text: 'Hi' }])
})

test('a repeated chunk of a chat completion is detected if it cannot be a repeated word', async () => {
  const read = (...chunks: unknown[]) => {
    const reader = createChunkReader({ model: 'M' })
    const lines = createEventStreamReader(reader.read)
    for (const one of chunks) lines.push(Buffer.from(dataLine(one)))
    const text = reader.end().map((event) => ('text' in event ? event.text : ''))
    const calls = reader.calls().map((call) => call.arguments)
    return { text: text.join(''), calls, error: reader.error?.reason }
  }
  const padded = (content: string, obfuscation: string) => ({ ...chunk({ content }), obfuscation })
  const ha = padded('ha', 'k3VxTq')
  expect(read(ha, ha, padded('!', 'x'))).toEqual({
    text: 'ha',
    calls: [],
    error: 'model_stream_disordered',
  })
  // A model may say a word twice, and few characters may be the same twice.
  const no = padded('nonono', 'x7')
  expect(read(no, no).text).toBe('nononononono')
  expect(read(chunk({ content: 'ha' }), chunk({ content: 'ha' })).text).toBe('haha')
  expect(read(ha, padded('ha', 'Zp71mm')).text).toBe('haha')
  // Nor does the end of a chunk tell anything where a gateway ends all of them alike.
  expect(read(padded('so ', 'k3VxTq'), ha, ha)).toMatchObject({ text: 'so haha', error: undefined })

  const end = chunk({ content: '?' }, 'stop')
  expect(read(ha, end, end).text).toBe('ha?')
  const whole = { choices: [{ index: 0, message: { content: 'ha?' }, finish_reason: 'stop' }] }
  expect(read(ha, chunk({ content: '?' }), whole).text).toBe('ha?')
  // Some gateways name the finish reason with the reasoning, before the answer.
  expect(read(chunk({ reasoning: 'Hm.' }, 'stop'), chunk({ content: 'Yes.' })).text).toBe('Hm.Yes.')

  const call = (id: string, at: string) =>
    chunk({
      tool_calls: [{ index: 0, id, function: { name: 'look', arguments: JSON.stringify({ at }) } }],
    })
  expect(read(call('a', 'x'), call('a', 'x')).calls).toEqual(['{"at":"x"}'])
  expect(read(call('a', 'x'), call('a', 'y')).calls).toHaveLength(2)
  expect(read(call('a', 'x'), call('b', 'x')).calls).toHaveLength(2)
})

test('a Messages API block that begins twice, or continues before its beginning or after its end, is an error', async () => {
  const whole = messagesTurn([{ type: 'text', text: 'Hello.' }])
  const events = eventsOf(whole)
  const of = (type: string) => events.filter((event) => event.includes(`"type":"${type}"`))
  const [start] = of('content_block_start')
  const [first, second] = of('content_block_delta')
  const [stop] = of('content_block_stop')
  const [opening] = of('message_start')
  const streams: [string[], string][] = [
    [[`${opening}`, `${start}`, `${first}`, `${start}`, `${second}`], 'Hel'],
    [[`${opening}`, `${first}`, `${start}`, `${second}`], ''],
    [[`${opening}`, `${start}`, `${first}`, `${stop}`, `${second}`], 'Hel'],
    [
      [`${opening}`, `${start}`, `${first}`, `${stop}`, `${start}`, `${first}`, `${stop}`],
      'HelHel',
    ],
  ]
  for (const [pieces, kept] of streams) {
    const reader = createEventReader({ model: 'M' })
    const lines = createEventStreamReader(reader.read)
    lines.push(Buffer.from(pieces.join('')))
    const text = reader.end().map((event) => ('text' in event ? event.text : ''))
    expect([reader.error?.reason, text.join('')]).toEqual(['model_stream_disordered', kept])
  }
})
