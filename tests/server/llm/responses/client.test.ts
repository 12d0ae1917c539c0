// OpenAI's Responses API: what is sent, what is read, and what goes back unchanged and in order.
import { expect, test } from 'vitest'
import type { LlmMessage, LlmRequest } from '../../../../server/llm/client.ts'
import { buildResponsesBody, createResponses } from '../../../../server/llm/responses.ts'
import { CallId } from '../../../../server/protocol/ids.ts'
import type { ModelSettings } from '../../../../server/protocol/models/catalog.ts'
import { llmRequest, outcome, readResponse } from '../../../support/provider/llm.ts'
import {
  called,
  completeResponse,
  reasoned,
  responsesTurn,
  said,
} from '../../../support/provider/responses-turns.ts'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { look, useProviderClients } from '../provider-clients.ts'

const { upstream, clientFor } = useProviderClients(createResponses, {
  id: 'gpt-5.6',
  api_key: 'sk-test',
})
const items = [
  reasoned('Two calls.'),
  said('I look.', { phase: 'commentary' }),
  called('call_1', 'look', { at: 'a' }),
  called('call_2', 'look'),
]

test('text, reasoning and parallel calls are read, and the items go back unchanged before the results', async () => {
  upstream.enqueue(responsesTurn(items), responsesTurn([said('Seen.')]))
  const request = llmRequest({ tools: [look], thinking: 'high' })
  const response = await readResponse(clientFor(), request)
  expect(response).toMatchObject({ text: 'I look.', thinking: 'Two calls.' })
  expect(response.calls).toEqual([
    { id: 'call_1', name: 'look', arguments: '{"at":"a"}' },
    { id: 'call_2', name: 'look', arguments: '{}' },
  ])
  expect(response.end).toMatchObject({
    reason: 'tool_calls',
    estimated: false,
    usage: {
      prompt_tokens: 17,
      completion_tokens: 20,
      total_tokens: 37,
      cached_tokens: 5,
      reasoning_tokens: 8,
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
  expect(sent).toMatchObject({ path: '/v1/responses', apiKey: 'sk-test' })
  expect(sent?.body).toMatchObject({
    store: false,
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'high', summary: 'auto' },
    tools: [{ type: 'function', name: 'look', parameters: { type: 'object' }, strict: false }],
  })
  expect(sent?.body.input).toEqual([
    { role: 'user', content: 'hello' },
    ...items,
    { type: 'function_call_output', call_id: 'call_1', output: 'ok' },
    { type: 'function_call_output', call_id: 'call_2', output: 'ok' },
  ])
  // Another model gets the calls without the items that this model encrypted.
  const other = buildResponsesBody(
    { ...request, messages: history },
    { id: 'gpt-4.1', api_url: upstream.url },
  )
  expect(JSON.stringify(other)).toContain('call_2')
  expect(JSON.stringify(other)).not.toMatch(/sealed-1|rs_1|phase/)
})

const body = (request: Partial<LlmRequest>, more: Partial<ModelSettings> = {}) =>
  buildResponsesBody(llmRequest(request), {
    id: 'gpt-5.6',
    api_url: 'https://api.openai.com/v1',
    ...more,
  })

test('images, long ids, limits and a forced call are sent in a form that the API accepts', () => {
  const id = CallId.parse(`call_${'x'.repeat(100)}`)
  const image = { mime: 'image/png', data: 'AAAA' }
  const messages: LlmMessage[] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'See', context: 'Now: noon', images: [image] },
    { role: 'assistant', content: '', toolCalls: [{ id, name: 'look', arguments: '[1' }] },
    { role: 'tool', callId: id, name: 'look', content: 'no' },
  ]
  const toolChoice = { type: 'function', function: { name: 'look' } } as const
  const sent = body({ messages, maxTokens: 1, tools: [look], toolChoice }, { vision: true })
  expect(sent).toMatchObject({
    max_output_tokens: 16,
    tool_choice: { type: 'function', name: 'look' },
    input: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Now: noon\n\nSee' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
        ],
      },
      { type: 'function_call', name: 'look', arguments: '{"unreadable":"[1"}' },
      { type: 'function_call_output', output: 'no' },
    ],
  })
  const ids = [...JSON.stringify(sent).matchAll(/"call_id":"([^"]+)"/g)].map(([, found]) => found)
  expect(ids[0]).toBe(ids[1])
  expect(ids[0]?.length).toBeLessThanOrEqual(64)
  expect(JSON.stringify(body({ messages }))).not.toContain('AAAA')
  expect(body({})).not.toHaveProperty('reasoning')
  // Only OpenAI itself gets the key; other servers may refuse an unknown field.
  expect(body({ cacheKey: 'c1' })).toMatchObject({ prompt_cache_key: 'c1' })
  const elsewhere = body({ cacheKey: 'c1' }, { api_url: 'http://127.0.0.1:1234/v1' })
  expect(elsewhere).not.toHaveProperty('prompt_cache_key')
})

test('a field that a model refuses is omitted from then on, and other refusals are reported', async () => {
  upstream.program(({ body: sent }) => {
    if (sent.include !== undefined)
      return turn.error(400, 'Encrypted content is not supported with this model.')
    if (JSON.stringify(sent.reasoning ?? '').includes('summary'))
      return turn.error(400, 'Your organization must be verified to generate reasoning summaries.')
    if (sent.temperature !== undefined)
      return turn.error(400, "Unsupported parameter: 'temperature' is not supported.")
    return sent.max_output_tokens === 17
      ? turn.error(400, 'Unknown parameter')
      : responsesTurn([said('Yes.')])
  })
  const client = clientFor()
  const request = llmRequest({ thinking: 'low', temperature: 0.5 })
  expect((await readResponse(client, request)).text).toBe('Yes.')
  expect(upstream.requests).toHaveLength(4)
  expect((await readResponse(client, request)).text).toBe('Yes.')
  expect(upstream.requests).toHaveLength(5)
  expect(upstream.requests.at(-1)?.body.reasoning).toEqual({ effort: 'low' })
  expect(outcome(await readResponse(client, { ...request, maxTokens: 17 }))).toBe('model_refused')
  expect(upstream.requests).toHaveLength(6)
})

test('a token limit keeps the text and carries nothing, and a filter and a refusal are reported', async () => {
  const incomplete = (reason: string) => ({ status: 'incomplete', incomplete_details: { reason } })
  upstream.enqueue(
    responsesTurn([reasoned('hm'), said('cut')], incomplete('max_output_tokens')),
    responsesTurn([], incomplete('content_filter')),
    responsesTurn([said('', { content: [{ type: 'refusal', refusal: 'I cannot.' }] })]),
  )
  const cut = await readResponse(clientFor())
  expect(outcome(cut)).toBe('finished:length')
  expect(cut.end).not.toHaveProperty('carry')
  expect(outcome(await readResponse(clientFor()))).toBe('model_refused')
  expect(await readResponse(clientFor())).toMatchObject({
    text: 'I cannot.',
    end: { reason: 'stop' },
  })
})

test('errors of the stream are distinguished by code and by shape', async () => {
  const failing = (error: object) => responsesTurn([], { status: 'failed', output: [], error })
  upstream.enqueue(
    failing({ code: 'rate_limit_exceeded', message: 'Slow down.' }),
    failing({ code: 'server_error', message: 'Sorry.' }),
    failing({ code: 'invalid_image_format', message: 'No image.' }),
    turn.chunks([
      {
        type: 'error',
        error: { code: 'insufficient_quota', message: 'You exceeded your current quota' },
      },
    ]),
    turn.chunks([
      { type: 'error', code: 'context_length_exceeded', message: 'maximum context length' },
    ]),
    turn.json(200, { object: 'response', status: 'failed', error: { code: 'server_error' } }),
    failing({ code: 'constructor', message: 'Odd.' }),
  )
  const outcomes: string[] = []
  for (let at = 0; at < 7; at += 1) outcomes.push(outcome(await readResponse(clientFor())))
  expect(outcomes).toEqual([
    'model_rate_limited',
    'model_unavailable',
    'model_refused',
    'model_rate_limited',
    'model_context_exceeded',
    'model_unavailable',
    'model_unavailable',
  ])
})

test('a service that responds without a stream, or streams only the end, is supported', async () => {
  const whole = completeResponse(items)
  upstream.enqueue(
    turn.json(200, whole),
    turn.chunks([{ type: 'response.completed', response: whole }]),
  )
  for (const _ of ['whole', 'end'])
    expect(await readResponse(clientFor())).toMatchObject({
      text: 'I look.',
      thinking: 'Two calls.',
      calls: [{ id: 'call_1' }, { id: 'call_2' }],
    })
})

test('hostile events end in one failure, and the part that arrived is kept', async () => {
  upstream.enqueue(
    turn.chunks([
      null,
      { type: 'response.output_item.added', output_index: 0, item: 5 },
      { type: 'response.function_call_arguments.delta', output_index: 7, delta: '{}' },
      { type: 'response.output_text.delta', output_index: -3, delta: 'kept' },
      { type: 'response.output_item.done', output_index: 0, item: { type: 'function_call' } },
      { type: 'response.reasoning_summary_text.delta', delta: [] },
      { type: 7 },
    ]),
  )
  const response = await readResponse(clientFor())
  expect(outcome(response)).toBe('model_stream_broken')
  expect(response.text).toBe('kept')
})
