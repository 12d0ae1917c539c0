// Fields that providers require back with their messages are assembled from the stream and sent back unchanged.
import { expect, test } from 'vitest'
import { carrySource, openCarry, sealCarry } from '../../../../server/llm/carry.ts'
import { buildRequestBody } from '../../../../server/llm/openai.ts'
import { CallId } from '../../../../server/protocol/ids.ts'
import type { ModelSettings } from '../../../../server/protocol/models/catalog.ts'
import { llmRequest, readResponse } from '../../../support/provider/llm.ts'
import { chunk, turn } from '../../../support/provider/upstream-turns.ts'
import { stop, textChunk, toolCallChunk, useClient } from './use-client.ts'

const { upstream, clientFor } = useClient()

const call = (index: number, more: object = {}) => ({
  index,
  id: `call_${index}`,
  type: 'function',
  function: { name: 'look', arguments: '{}' },
  ...more,
})
const details = (...pieces: object[]) => chunk({ reasoning_details: pieces })

/** The assistant message as the provider gets it back after it has sent these chunks. */
async function sentBack(chunks: readonly unknown[]) {
  upstream.enqueue(turn.chunks([...chunks, chunk({}, 'tool_calls')]), turn.text('Done.'))
  const client = clientFor()
  const { calls, text, end } = await readResponse(client)
  const carry = end.type === 'finished' ? end.carry : undefined
  await readResponse(
    client,
    llmRequest({
      messages: [
        { role: 'user', content: 'hello' },
        { role: 'assistant', content: text, toolCalls: calls, carry },
        ...calls.map(({ id, name }) => ({
          role: 'tool' as const,
          callId: id,
          name,
          content: 'seen',
        })),
      ],
    }),
  )
  const messages = upstream.requests.at(-1)?.body.messages
  return Array.isArray(messages) ? messages[1] : undefined
}

test("the signature of Gemini's call goes back with that call", async () => {
  const signature = { extra_content: { google: { thought_signature: 'AbC=' } } }
  const message = await sentBack([toolCallChunk(call(0, signature)), toolCallChunk(call(1))])
  expect(message.tool_calls).toEqual([
    expect.objectContaining({ id: 'call_0', ...signature }),
    { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } },
  ])
})

test('a signature in a different piece of the call or message is not lost', async () => {
  const message = await sentBack([
    textChunk('a'),
    chunk({ content: 'b', extra_content: { google: { thought_signature: 'of the text' } } }),
    textChunk('c'),
    toolCallChunk(call(0)),
    toolCallChunk({ index: 0, extra_content: { google: { thought_signature: 'later' } } }),
  ])
  expect(message).toMatchObject({
    content: 'abc',
    extra_content: { google: { thought_signature: 'of the text' } },
    tool_calls: [{ extra_content: { google: { thought_signature: 'later' } } }],
  })
})

test("OpenRouter's reasoning is joined by index, including a signature without text", async () => {
  const block = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 }
  const message = await sentBack([
    details({ ...block, text: 'First ', signature: null }),
    details({ ...block, text: 'this.' }),
    details({ ...block, signature: 'sig-0' }),
    details({ ...block, index: 1, text: 'Then that.' }),
    details({ ...block, index: 1, signature: 'sig-1' }),
    details({ type: 'reasoning.encrypted', data: 'opaque', id: 'rs_1', index: 2 }),
    toolCallChunk(call(0)),
  ])
  expect(message.reasoning_details).toEqual([
    { ...block, text: 'First this.', signature: 'sig-0' },
    { ...block, index: 1, text: 'Then that.', signature: 'sig-1' },
    { type: 'reasoning.encrypted', data: 'opaque', id: 'rs_1', index: 2 },
  ])
})

test('text after a signature begins another block', async () => {
  const block = { type: 'reasoning.text', index: 0 }
  const message = await sentBack([
    details({ ...block, text: 'One.', signature: 's1' }),
    details({ ...block, text: 'Two.' }),
    details({ ...block, signature: 's2' }),
    toolCallChunk(call(0)),
  ])
  expect(message.reasoning_details).toEqual([
    { ...block, text: 'One.', signature: 's1' },
    { ...block, text: 'Two.', signature: 's2' },
  ])
})

test("LiteLLM's thinking blocks and provider fields go back, also those inside a function", async () => {
  const fields = { thought_signature: 'of the call' }
  const message = await sentBack([
    chunk({ thinking_blocks: [{ type: 'thinking', thinking: 'Hm', signature: '' }] }),
    chunk({ thinking_blocks: [{ type: 'thinking', thinking: '.', signature: '' }] }),
    chunk({ thinking_blocks: [{ type: 'thinking', thinking: '', signature: 'sig' }] }),
    chunk({ thinking_blocks: [{ type: 'redacted_thinking', data: 'x' }] }),
    toolCallChunk(
      call(0, {
        provider_specific_fields: fields,
        function: { name: 'look', arguments: '{}', provider_specific_fields: fields },
      }),
    ),
  ])
  expect(message.thinking_blocks).toEqual([
    { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
    { type: 'redacted_thinking', data: 'x' },
  ])
  expect(message.tool_calls[0]).toEqual({
    id: 'call_0',
    type: 'function',
    provider_specific_fields: fields,
    function: { name: 'look', arguments: '{}', provider_specific_fields: fields },
  })
})

test('other unknown fields are not sent back', async () => {
  const message = await sentBack([toolCallChunk(call(0, { surprise: 1 })), chunk({ audio: 'x' })])
  expect(JSON.stringify(message)).not.toMatch(/surprise|audio/)
})

test('hostile fields of every shape end in an answer', async () => {
  for (const value of [5, 'text', [null, 3, [[]]], { a: { b: [1] } }, [{ type: 7, index: {} }]]) {
    const fields = { reasoning_details: value, extra_content: value, thinking_blocks: value }
    upstream.enqueue(turn.chunks([chunk(fields), textChunk('ok'), chunk(fields), stop]))
    expect((await readResponse(clientFor())).text).toBe('ok')
  }
})

const model: ModelSettings = { id: 'm', api_url: 'https://one.test/v1' }

test('a sealed value is opened only for the model, endpoint and format that it came from', () => {
  const source = carrySource('chat', model)
  const carry = sealCarry(source, { message: { extra_content: 1 } })
  expect(openCarry(carry, source)).toEqual({ message: { extra_content: 1 } })
  expect(carry).not.toContain('one.test')
  for (const other of [
    carrySource('chat', { ...model, id: 'n' }),
    carrySource('chat', { ...model, upstream_model: 'n' }),
    carrySource('chat', { ...model, api_url: 'https://two.test/v1' }),
    carrySource('messages', model),
  ])
    expect(openCarry(carry, other)).toBeUndefined()
  expect(openCarry('not JSON', source)).toBeUndefined()
  expect(sealCarry(source, 'x'.repeat(3_000_000))).toBeUndefined()
})

test("a call of another model gets Gemini's placeholder signature; a signed call keeps its signature", () => {
  const gemini: ModelSettings = {
    id: 'gemini-3-pro-preview',
    api_url: 'https://generativelanguage.googleapis.com/v1beta/openai',
  }
  const toolCalls = ['a', 'b'].map((id) => ({
    id: CallId.parse(id),
    name: 'look',
    arguments: '{}',
  }))
  const sent = (settings: ModelSettings, carry?: string) =>
    JSON.stringify(
      buildRequestBody(
        llmRequest({ messages: [{ role: 'assistant', content: '', toolCalls, carry }] }),
        settings,
      ).messages,
    )
  expect(sent(gemini).match(/skip_thought_signature_validator/g)).toHaveLength(1)
  expect(sent({ ...gemini, id: 'gemini-2.5-pro' })).not.toContain('skip_')
  expect(sent(model)).not.toContain('skip_')
  const own = { calls: [{ extra_content: { google: { thought_signature: 'own' } } }, null] }
  const signed = sent(gemini, sealCarry(carrySource('chat', gemini), own))
  expect(signed).toContain('own')
  expect(signed).not.toContain('skip_')
})
