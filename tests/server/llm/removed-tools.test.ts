// A conversation whose tools are gone: each API accepts a history with calls of them.
import { expect, test } from 'vitest'
import { buildMessagesBody } from '../../../server/llm/anthropic.ts'
import { carrySource, sealCarry } from '../../../server/llm/carry.ts'
import type { LlmMessage, ToolSchema } from '../../../server/llm/client.ts'
import { buildRequestBody } from '../../../server/llm/openai.ts'
import { buildResponsesBody } from '../../../server/llm/responses.ts'
import { CallId } from '../../../server/protocol/ids.ts'
import { llmRequest, readResponse } from '../../support/provider/llm.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useClient } from './openai/use-client.ts'

const { upstream, clientFor } = useClient()
const id = CallId.parse('c1')
const messages: LlmMessage[] = [
  { role: 'user', content: 'Go' },
  { role: 'assistant', content: '', toolCalls: [{ id, name: 'mcp__gone__look', arguments: '{}' }] },
  { role: 'tool', callId: id, name: 'mcp__gone__look', content: 'seen' },
  { role: 'user', content: 'And now?' },
]
const other: ToolSchema = {
  type: 'function',
  function: { name: 'other', description: '', parameters: { type: 'object' } },
}
const toolCount = (tools: unknown) => (Array.isArray(tools) ? tools.length : undefined)
const settings = { id: 'm', api_url: 'https://example.test/v1' }

test('calls of removed tools stay in the history, with other tools or none', () => {
  for (const tools of [[other], []]) {
    const request = llmRequest({ messages, tools })
    const bodies = [
      buildRequestBody(request, settings),
      buildResponsesBody(request, settings),
      buildMessagesBody(request, settings),
    ]
    for (const body of bodies) {
      const text = JSON.stringify(body)
      expect(text).toContain('mcp__gone__look')
      expect(text).toContain('seen')
      expect(text.includes('"other"')).toBe(tools.length > 0)
    }
  }
})

test('a tool name invented by a model is sent in a form that each API accepts', () => {
  const calls = ['look up 天气', 'x'.repeat(100), 'get_weather'].map((name, at) => ({
    id: CallId.parse(`c${at}`),
    name,
    arguments: '{}',
  }))
  const carried = {
    responses: calls.map(({ name }) => ({ type: 'function_call', name, encrypted: true })),
    messages: calls.map(({ name }) => ({ type: 'tool_use', name, input: {} })),
  }
  for (const api of [undefined, 'responses', 'messages'] as const) {
    const carry = api && sealCarry(carrySource(api, settings), carried[api])
    const history: LlmMessage[] = [{ role: 'assistant', content: '', toolCalls: calls, carry }]
    const request = llmRequest({ messages: history, tools: [other] })
    for (const build of [buildRequestBody, buildResponsesBody, buildMessagesBody]) {
      const text = JSON.stringify(build(request, settings))
      const names = [...text.matchAll(/"name":"([^"]*)"/g)].map(([, name]) => name)
      expect(names.filter((name) => name !== 'other')).toEqual([
        'look_up___',
        'x'.repeat(64),
        'get_weather',
      ])
    }
  }
})

test('without any tool, the Messages API gets placeholders that must not be called', () => {
  const body = buildMessagesBody(llmRequest({ messages }), settings)
  expect(body.tools).toMatchObject([{ name: 'mcp__gone__look', input_schema: { type: 'object' } }])
  expect(body.tool_choice).toEqual({ type: 'none' })
  expect(buildMessagesBody(llmRequest(), settings)).not.toHaveProperty('tools')
})

test('a gateway that refuses calls without tools gets the request again with placeholders', async () => {
  upstream.enqueue(
    turn.error(400, 'Requests which include `tool_use` or `tool_result` blocks must define tools.'),
    turn.text('Fine.'),
    turn.error(400, 'must define tools'),
  )
  expect((await readResponse(clientFor(), llmRequest({ messages }))).text).toBe('Fine.')
  expect(upstream.requests.map(({ body }) => [toolCount(body.tools), body.tool_choice])).toEqual([
    [undefined, undefined],
    [1, 'none'],
  ])
  await readResponse(clientFor(), llmRequest())
  expect(upstream.requests).toHaveLength(3)
})
