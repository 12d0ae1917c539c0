// Each request of a growing conversation begins as the previous one did, in the format of each API.
import { expect, test } from 'vitest'
import { buildMessagesBody } from '../../../server/llm/anthropic.ts'
import { carrySource, sealCarry } from '../../../server/llm/carry.ts'
import type { LlmMessage } from '../../../server/llm/client.ts'
import { buildRequestBody } from '../../../server/llm/openai.ts'
import { buildResponsesBody } from '../../../server/llm/responses.ts'
import { CallId } from '../../../server/protocol/ids.ts'
import type { ModelApi } from '../../../server/protocol/models/catalog.ts'
import { llmRequest } from '../../support/provider/llm.ts'
import { look } from './provider-clients.ts'

const common = { id: 'm', vision: true, thinking: true }
const endpoint = 'https://example.test/v1'
/** Without the marks that move with the end of the conversation: they are no part of what is cached. */
const written = (value: unknown) =>
  JSON.stringify(value, (key, inner: unknown) => (key === 'cache_control' ? undefined : inner))

const carried: Record<ModelApi, (id: string) => unknown> = {
  chat: () => ({ message: { reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }] } }),
  responses: (id) => [
    { type: 'reasoning', encrypted_content: 'sealed' },
    { type: 'function_call', call_id: id, name: 'look', arguments: '{}' },
  ],
  messages: (id) => [
    { type: 'thinking', thinking: 'Hm.', signature: 'signed' },
    { type: 'tool_use', id, name: 'look', input: {} },
  ],
}

test.each([
  ['chat', endpoint, (body: Record<string, unknown>) => body.messages, buildRequestBody],
  // These want the reasoning of calls back.
  ...['https://api.z.ai/api/paas/v4', 'https://api.moonshot.ai/v1', 'https://api.deepseek.com'].map(
    (url) =>
      ['chat', url, (body: Record<string, unknown>) => body.messages, buildRequestBody] as const,
  ),
  ['responses', endpoint, ({ input }: Record<string, unknown>) => input, buildResponsesBody],
  ['messages', endpoint, ({ messages }: Record<string, unknown>) => messages, buildMessagesBody],
] as const)('requests to %s of %s grow at the end', (api, api_url, conversationOf, build) => {
  const settings = { ...common, api_url }
  const source = carrySource(api, settings)
  const turnOf = (at: number): LlmMessage[] => [
    {
      role: 'user',
      content: `Question ${at}`,
      context: `Fact ${at}`,
      ...(at === 1 ? { images: [{ mime: 'image/png', data: 'AAAA' }] } : {}),
    },
    ...[1, 2].flatMap((iteration): LlmMessage[] => {
      const callId = CallId.parse(`call_${at}_${iteration}`)
      return [
        {
          role: 'assistant',
          content: '',
          reasoning: 'Hm.',
          toolCalls: [{ id: callId, name: 'look', arguments: '{}' }],
          carry: sealCarry(source, carried[api](callId)),
        },
        { role: 'tool', callId, name: 'look', content: 'seen' },
      ]
    }),
    { role: 'assistant', content: `Answer ${at}` },
  ]
  const messages: LlmMessage[] = [
    { role: 'system', content: 'Be brief.' },
    ...[0, 1, 2].flatMap(turnOf),
  ]
  let previous: { rest: string; conversation: string } | undefined
  for (const [at, { role }] of messages.entries()) {
    if (role !== 'user' && role !== 'tool') continue
    const body = build(
      llmRequest({ messages: messages.slice(0, at + 1), tools: [look], thinking: true }),
      settings,
    )
    const conversation = written(conversationOf(body))
    const { messages: _chat, input: _items, ...others } = body
    const rest = written(others)
    if (previous !== undefined) {
      expect(rest).toBe(previous.rest)
      // Without the brackets that close the list; a text may follow in the last message of the Messages API.
      const beginning = previous.conversation.replace(/(?:\]\})?\]$/, '')
      expect(conversation.slice(0, beginning.length)).toBe(beginning)
    }
    previous = { rest, conversation }
  }
})
