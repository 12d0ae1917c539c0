// Requests in parts, and what differs between two of them.
import { expect, test } from 'vitest'
import type { ProviderExchange } from '../../../../server/llm/exchange.ts'
import {
  type RecordedExchange,
  requestBodyOf,
} from '../../../../server/protocol/runs/run-record.ts'
import { callsOf, createPacker } from '../../../../server/runs/inspection/pieces.ts'
import {
  comparePrompts,
  type Difference,
} from '../../../../server/runs/inspection/read-record/prompt-change.ts'
import { hashOf } from '../../../../server/runs/inspection/split-request.ts'

const parts: Record<string, { json: string; characters: number }> = {}
const take = (json: string): string => {
  const hash = hashOf(json)
  parts[hash] = { json, characters: json.length }
  return hash
}
const exchangeOf = (body: Record<string, unknown>, model = 'm'): ProviderExchange => ({
  model,
  sentAt: new Date(0),
  url: 'https://provider.test/v1/chat/completions',
  headers: {},
  body,
  status: 200,
  requestId: null,
  headersMs: 1,
  endMs: 2,
  error: null,
  thinking: { joined: '', pieces: [] },
  text: { joined: '', pieces: ['o', 'k'] },
  calls: [],
  finish: 'stop',
  usage: null,
  isCut: false,
})
/** The exchanges as they are read after they were packed. */
const recorded = (...exchanges: ProviderExchange[]): RecordedExchange[] => {
  const pack = createPacker(take, (text) => text)
  const calls = exchanges.map((one, at) => ({ number: at + 1, exchanges: [pack(one)] }))
  return callsOf({ calls, stored: [] }).flatMap((call) => call.exchanges)
}
const compare = (
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  model = 'm',
): Difference => {
  const [old, current] = recorded(exchangeOf(before), exchangeOf(after, model))
  if (old === undefined || current === undefined) throw new Error('both are recorded')
  const compared = (exchange: RecordedExchange) => ({
    exchange,
    jsonOf: (hash: string) => parts[hash]?.json,
  })
  return comparePrompts(compared(old), compared(current), {
    input: 10,
    output: 1,
    cached_input: 2,
    currency: 'EUR',
  })
}

const say = (content: string, role = 'user') => ({ role, content })
const tool = (name: string, description = name) => ({
  type: 'function',
  function: { name, description, parameters: { type: 'object' } },
})
const long = 'All the words that were said before. '.repeat(40)
const body = {
  model: 'upstream',
  messages: [say('Be brief.', 'system'), say(long), say('Yes.', 'assistant')],
  stream: true,
  tools: [tool('clock'), tool('map')],
  temperature: undefined,
}

test('a request is read back exactly as sent, even if most of it was sent before', () => {
  const next = { ...body, messages: [...body.messages, say('And "now"?\n')], max_tokens: 5 }
  const other = { ...body, messages: [say('Be long.', 'system')] }
  const exchanges = recorded(exchangeOf(body), exchangeOf(next), exchangeOf(other))
  expect(exchanges.map((one) => requestBodyOf(one, parts))).toEqual(
    [body, next, other].map((one) => JSON.stringify(one)),
  )
})

test('images, files and sealed values are replaced by their size, and different ones stay distinguishable', () => {
  const image = (data: string) => ({
    type: 'image_url',
    image_url: { url: `data:image/png;base64,${data}` },
  })
  const sealed = { type: 'reasoning', encrypted_content: 'x'.repeat(90_000), summary: [] }
  const input = [
    { role: 'user', content: [image('A'.repeat(40_000)), image('B'.repeat(40_000))] },
    sealed,
  ]
  const [exchange] = recorded(exchangeOf({ model: 'upstream', input }))
  const text = exchange === undefined ? '' : requestBodyOf(exchange, parts)
  expect(text.length).toBeLessThan(600)
  const urls = text.match(/data:image\/png;\[30000 bytes, [\w-]{12}\]/g) ?? []
  expect(new Set(urls).size).toBe(2)
  expect(text).toMatch(/"encrypted_content":"\[90000 characters, [\w-]{12}\]","summary":\[\]/)
})

test('appended messages do not change the cached part', () => {
  const { first, resent_tokens, same_tokens, prompt_tokens } = compare(body, {
    ...body,
    messages: [...body.messages, say('Go on.')],
  })
  expect({ first, resent_tokens }).toEqual({ first: null, resent_tokens: 0 })
  expect(same_tokens).toBeGreaterThan(0)
  expect(same_tokens).toBeLessThan(prompt_tokens)
})

test('after a changed system prompt, everything is read again at the uncached price', () => {
  const change = compare(body, {
    ...body,
    messages: [say('Be verbose.', 'system'), ...body.messages.slice(1), say('Go on.')],
    temperature: 1,
  })
  expect(change).toMatchObject({
    first: { field: 'messages', index: 0, kind: 'changed', tools: null },
    options: ['temperature'],
  })
  // About a token for four characters of the long message and its answer.
  expect(change.resent_tokens).toBeGreaterThan(long.length / 5)
  expect(change.extra_cost.EUR).toBeCloseTo((change.resent_tokens * 8) / 1e6, 9)
})

test('a changed set of tools is named by its tools, and nothing after it is cached', () => {
  const change = compare(body, { ...body, tools: [tool('clock', 'Tells the time.'), tool('mail')] })
  expect(change).toMatchObject({
    same_tokens: 0,
    first: {
      field: 'tools',
      index: null,
      kind: 'changed',
      tools: { added: ['mail'], removed: ['map'], changed: ['clock'] },
    },
  })
  expect(change.resent_tokens).toBeGreaterThan(long.length / 5)
  const none = compare(body, { ...body, tools: undefined })
  expect(none.first).toMatchObject({ kind: 'removed', tools: { removed: ['clock', 'map'] } })
})

test('inserted and removed messages are distinguished from changed ones', () => {
  const [system, ...rest] = body.messages
  const inserted = { ...body, messages: [system, say('A summary.'), ...rest] }
  expect(compare(body, inserted).first).toMatchObject({ kind: 'added', index: 1, before: null })
  expect(compare(inserted, body).first).toMatchObject({ kind: 'removed', index: 1, after: null })
})

test('cache breakpoints may move, but another model shares no cache', () => {
  const marked = (at: number) => ({
    ...body,
    messages: body.messages.map(({ role, content }, index) => ({
      role,
      content: [
        {
          type: 'text',
          text: content,
          ...(index === at ? { cache_control: { type: 'ephemeral' } } : {}),
        },
      ],
    })),
  })
  expect(compare(marked(1), marked(2))).toMatchObject({ first: null, resent_tokens: 0 })
  const change = compare(body, body, 'other')
  expect(change).toMatchObject({ other_model: true, first: null })
  expect(change.resent_tokens).toBe(change.prompt_tokens)
})
