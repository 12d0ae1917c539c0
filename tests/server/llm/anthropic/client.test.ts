// Anthropic's Messages API: what is sent, what is read, and what goes back unchanged.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createEventReader } from '../../../../server/llm/anthropic/messages-reader.ts'
import { buildMessagesBody, createAnthropic } from '../../../../server/llm/anthropic.ts'
import type { LlmMessage, LlmRequest } from '../../../../server/llm/client.ts'
import { apiOf } from '../../../../server/llm/provider-quirks.ts'
import { createEventStreamReader } from '../../../../server/llm/streaming/streamed-client/event-stream.ts'
import { windowTokens } from '../../../../server/llm/usage.ts'
import { CallId } from '../../../../server/protocol/ids.ts'
import type { ModelSettings } from '../../../../server/protocol/models/catalog.ts'
import { llmRequest, outcome, readResponse } from '../../../support/provider/llm.ts'
import { messagesTurn } from '../../../support/provider/messages-turns.ts'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { look, useProviderClients } from '../provider-clients.ts'

const { upstream, clientFor } = useProviderClients(createAnthropic, {
  id: 'claude-sonnet-5',
  api_key: 'sk-ant-test',
})
const signed = [
  { type: 'thinking', thinking: 'Two calls.', signature: 'sig-1' },
  { type: 'redacted_thinking', data: 'opaque' },
  { type: 'text', text: 'I look.' },
  { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'a' } },
  { type: 'tool_use', id: 'toolu_2', name: 'look', input: {} },
]

test('text, thinking and parallel calls are read, and the blocks go back unchanged with the results', async () => {
  upstream.enqueue(messagesTurn(signed), messagesTurn([{ type: 'text', text: 'Seen.' }]))
  const request = llmRequest({ tools: [look], thinking: true })
  const response = await readResponse(clientFor(), request)
  expect(response).toMatchObject({ text: 'I look.', thinking: 'Two calls.' })
  expect(response.calls).toEqual([
    { id: 'toolu_1', name: 'look', arguments: '{"at":"a"}' },
    { id: 'toolu_2', name: 'look', arguments: '{}' },
  ])
  expect(response.end).toMatchObject({
    reason: 'tool_calls',
    estimated: false,
    usage: {
      prompt_tokens: 17,
      completion_tokens: 20,
      total_tokens: 37,
      cached_tokens: 5,
      cache_write_tokens: 2,
    },
  })
  const carry = response.end.type === 'finished' ? response.end.carry : undefined
  const history: LlmMessage[] = [
    ...request.messages,
    { role: 'assistant', content: response.text, toolCalls: response.calls, carry },
    ...response.calls.map(
      ({ id, name }): LlmMessage => ({ role: 'tool', callId: id, name, content: 'ok' }),
    ),
  ]
  await readResponse(clientFor(), { ...request, messages: history })
  const sent = upstream.requests.at(-1)
  expect(sent?.path).toBe('/v1/messages')
  expect(sent?.headers).toMatchObject({
    'x-api-key': 'sk-ant-test',
    'anthropic-version': '2023-06-01',
  })
  expect(sent?.headers.authorization).toBeUndefined()
  expect(sent?.body.messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant', content: signed },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: 'ok' },
      ],
    },
  ])
  // Another model gets the calls without the blocks that this model signed.
  const other = JSON.stringify(
    buildMessagesBody(
      { ...request, messages: history },
      { id: 'claude-haiku-4-5', api_url: upstream.url },
    ),
  )
  expect(other).toContain('toolu_2')
  expect(other).not.toMatch(/sig-1|opaque|budget_tokens/)
})

const body = (request: Partial<LlmRequest>, more: Partial<ModelSettings> = {}) =>
  buildMessagesBody(llmRequest(request), {
    id: 'claude-sonnet-5',
    api_url: 'https://api.anthropic.com/v1',
    ...more,
  })

test('a long conversation has four cache breakpoints', () => {
  const messages: LlmMessage[] = [
    { role: 'system', content: 'Be brief.' },
    ...Array.from({ length: 6 }, (_, at): LlmMessage[] => [
      { role: 'user', content: `question ${at}` },
      { role: 'assistant', content: `answer ${at}` },
    ]).flat(),
    { role: 'user', content: 'last' },
  ]
  const sent = body({ messages, tools: [look, look] })
  expect(JSON.stringify(sent).match(/cache_control/g)).toHaveLength(4)
  expect(sent.system).toEqual([
    { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
  ])
  expect(sent.max_tokens).toBe(32_000)
  expect(body({}, { id: 'unknown' }).max_tokens).toBe(8192)
})

test('thinking is adaptive or has a budget, by model, and never comes with a forced call or a temperature', () => {
  expect(body({ thinking: 'high', temperature: 0.5 })).toMatchObject({
    thinking: { type: 'adaptive', display: 'summarized' },
    output_config: { effort: 'high' },
  })
  expect(body({ thinking: 'high', temperature: 0.5 })).not.toHaveProperty('temperature')
  const older = body({ thinking: true, maxTokens: 1000 }, { id: 'claude-haiku-4-5-20251001' })
  expect(older).toMatchObject({
    max_tokens: 9192,
    thinking: { type: 'enabled', budget_tokens: 8192 },
  })
  const forced = body({ thinking: true, tools: [look], toolChoice: 'required' })
  expect(forced).toMatchObject({ tool_choice: { type: 'any' } })
  expect(forced).not.toHaveProperty('thinking')
})

test('images, unusual ids and arguments that are not objects are sent in a form that the API accepts', () => {
  const id = CallId.parse('functions.look:0')
  const image = { mime: 'image/png', data: 'AAAA' }
  const messages: LlmMessage[] = [
    { role: 'user', content: 'See', images: [image] },
    { role: 'assistant', content: '', toolCalls: [{ id, name: 'look', arguments: '[1' }] },
    { role: 'tool', callId: id, name: 'look', content: 'no' },
    { role: 'user', content: 'And?' },
  ]
  expect(body({ messages }, { vision: true }).messages).toMatchObject([
    {
      content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        { type: 'text', text: 'See' },
      ],
    },
    { content: [{ type: 'tool_use', id: 'functions_look_0', input: { unreadable: '[1' } }] },
    { content: [{ type: 'tool_result', tool_use_id: 'functions_look_0' }, { text: 'And?' }] },
  ])
  expect(JSON.stringify(body({ messages }))).not.toContain('AAAA')
})

test('a paused turn is continued with its own blocks; each part is billed, but only the last one fills the window', async () => {
  const first = [
    { type: 'server_tool_use', id: 's1', name: 'web', input: { q: 'x' } },
    { type: 'text', text: 'Half ', citations: [{ type: 'page', url: 'https://a.example' }] },
  ]
  upstream.enqueue(
    messagesTurn(first, { stop_reason: 'pause_turn' }),
    messagesTurn([{ type: 'text', text: 'and ' }], { stop_reason: 'pause_turn' }),
    messagesTurn([{ type: 'text', text: 'half.' }]),
  )
  const response = await readResponse(clientFor())
  expect(response.text).toBe('Half and half.')
  expect(response.end).toMatchObject({
    reason: 'stop',
    usage: { prompt_tokens: 51, completion_tokens: 60 },
  })
  expect(response.end.usage && windowTokens(response.end.usage)).toBe(17)
  expect(upstream.requests.at(-2)?.body.messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant', content: first },
  ])
})

test('a refusal quotes the provider, an overload is retryable, and a token limit is reported', async () => {
  upstream.enqueue(
    messagesTurn([], { stop_reason: 'refusal', stop_details: { explanation: 'Blocked here.' } }),
    turn.json(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
    turn.chunks([{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }]),
    messagesTurn([{ type: 'text', text: 'cut' }], { stop_reason: 'max_tokens' }),
  )
  const refused = await readResponse(clientFor())
  expect(outcome(refused)).toBe('model_refused')
  expect(refused.end.type === 'failed' && refused.end.error.message).toContain('Blocked here.')
  for (const _ of ['status', 'event']) {
    const { end } = await readResponse(clientFor())
    expect(end).toMatchObject({ type: 'failed', error: { retryable: true } })
  }
  expect(outcome(await readResponse(clientFor()))).toBe('finished:length')
})

test('a recorded stream is read the same wherever it is split, and a cut one has no end', () => {
  const file = join(import.meta.dirname, '../../../fixtures/llm/anthropic-thinking.events.txt')
  const bytes = readFileSync(file)
  const read = (cut: number, upTo = bytes.length) => {
    const reader = createEventReader({ model: 'M' })
    const lines = createEventStreamReader(reader.read)
    lines.push(bytes.subarray(0, Math.min(cut, upTo)))
    lines.push(bytes.subarray(Math.min(cut, upTo), upTo))
    lines.end()
    return reader
  }
  const whole = read(0)
  expect(whole.carried()).toMatchObject([{ signature: expect.stringMatching(/^EsEC/) }, {}])
  expect(whole.usage).toMatchObject({ prompt_tokens: 47, completion_tokens: 373 })
  expect(whole.finishReason).toBe('end_turn')
  for (let cut = 0; cut <= bytes.length; cut += 7) {
    const reader = read(cut)
    expect([reader.carried(), reader.done, reader.unreadable]).toEqual([whole.carried(), true, 0])
    expect(read(0, Math.min(cut, bytes.length - 200)).done).toBe(false)
  }
})

test('hidden parts count towards the size of a response too', () => {
  const event = (data: unknown) => Buffer.from(`data: ${JSON.stringify(data)}\n\n`)
  const reader = createEventReader({ model: 'M' })
  const lines = createEventStreamReader(reader.read)
  const redacted = { type: 'redacted_thinking', data: 'd'.repeat(1000) }
  lines.push(event({ type: 'content_block_start', index: 0, content_block: redacted }))
  expect(reader.size).toBe(1000)
  lines.push(event({ type: 'content_block_start', index: 1, content_block: { type: 'thinking' } }))
  const delta = { type: 'signature_delta', signature: 's'.repeat(500) }
  lines.push(event({ type: 'content_block_delta', index: 1, delta }))
  lines.push(event({ type: 'content_block_delta', index: 1, delta }))
  expect(reader.size).toBe(2000)
})

test("Anthropic's API below another provider's address is called with its own version", async () => {
  upstream.enqueue(messagesTurn([{ type: 'text', text: 'Hi.' }]))
  const response = await readResponse(
    clientFor({ api_url: upstream.url.replace('/v1', '/anthropic') }),
  )
  expect(response.text).toBe('Hi.')
  expect(upstream.requests.at(-1)?.path).toBe('/anthropic/v1/messages')
})

test('hostile events end in one failure', async () => {
  upstream.enqueue(
    turn.chunks([
      null,
      { type: 'content_block_delta', index: 9, delta: { text: 'lost' } },
      { type: 'content_block_start', index: 0, content_block: 5 },
      { type: 'content_block_delta', index: 0, delta: [] },
      { type: 'message_delta', usage: { output_tokens: -5 } },
    ]),
  )
  expect(outcome(await readResponse(clientFor()))).toBe('model_stream_broken')
})

test('the API is detected by host, unless the settings or the path say otherwise', () => {
  const api_url = 'https://api.anthropic.com/v1'
  expect(apiOf({ api_url })).toBe('messages')
  expect(apiOf({ api_url: `${api_url}/chat/completions` })).toBe('chat')
  expect(apiOf({ api_url, api: 'chat' })).toBe('chat')
  expect(apiOf({ api_url: 'https://gateway.test/v1', api: 'messages' })).toBe('messages')
  expect(apiOf({ api_url: 'https://api.openai.com/v1' })).toBe('responses')
  expect(apiOf({ api_url: 'https://api.openai.com/v1/chat/completions' })).toBe('chat')
  expect(apiOf({ api_url: 'https://gateway.test/v1/responses' })).toBe('responses')
  expect(apiOf({ api_url: 'https://api.deepseek.com/anthropic' })).toBe('messages')
  expect(apiOf({ api_url: 'http://constructor/v1' })).toBe('chat')
})
