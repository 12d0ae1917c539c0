// The `openai` package as a reference: it sends the same requests and reads the same streams as the server's client.
import { OpenAI } from 'openai'
import { afterAll, describe, expect, test } from 'vitest'
import type { LlmRequest } from '../../../../server/llm/client.ts'
import { buildRequestBody, createOpenAiCompatible } from '../../../../server/llm/openai.ts'
import { createProviderHttp } from '../../../../server/llm/streaming/provider-http.ts'
import { CallId } from '../../../../server/protocol/ids.ts'
import { llmRequest, readResponse } from '../../../support/provider/llm.ts'
import { type Turn, turn } from '../../../support/provider/upstream-turns.ts'
import { useFreshUpstream } from '../../../support/provider/use-upstream.ts'

const KEY = 'sk-of-the-test'
const CALL = CallId.parse('call_a')
const http = createProviderHttp()
afterAll(() => http.close())

const upstream = useFreshUpstream()

const request: LlmRequest = llmRequest({
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'What is 2 + 2?' },
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: CALL, name: 'calculator', arguments: '{"expression":"2+2"}' }],
    },
    { role: 'tool', callId: CALL, name: 'calculator', content: '4' },
  ],
  temperature: 0.5,
})

const ours = () =>
  readResponse(
    createOpenAiCompatible({
      settings: { id: 'm', api_url: upstream.url, api_key: KEY },
      http,
      idleTimeout: 10,
    }),
    request,
  )

async function theirs() {
  const client = new OpenAI({ baseURL: upstream.url, apiKey: KEY, maxRetries: 0 })
  const body = buildRequestBody(request, { id: 'm', api_url: upstream.url })
  const stream = client.chat.completions.stream(JSON.parse(JSON.stringify(body)))
  return stream.finalChatCompletion()
}

describe('the client and the openai package', () => {
  test('send the same request', async () => {
    upstream.enqueue(turn.text('4'), turn.text('4'))
    await ours()
    await theirs()
    const [own, packaged] = upstream.requests.map(({ method, path, apiKey, headers, body }) => ({
      method,
      path,
      apiKey,
      type: headers['content-type'],
      accept: headers.accept,
      body,
    }))
    expect(own).toEqual(packaged)
  })

  const turns: [string, Turn][] = [
    ['text', turn.text('Grüße, 世界 🙂', { chunkSize: 1 })],
    ['an answer that was cut at its limit', turn.text('half an ans', { finishReason: 'length' })],
    [
      'tool calls',
      turn.toolCalls(
        [
          { id: 'call_1', name: 'calculator', arguments: { expression: '1+1' } },
          { id: 'call_2', name: 'get_current_time', arguments: {} },
        ],
        { text: 'Let me see.' },
      ),
    ],
  ]
  test.each(turns)('read the same response from a stream with %s', async (_what, scripted) => {
    upstream.enqueue(scripted, scripted)
    const own = await ours()
    const packaged = (await theirs()).choices[0]
    expect(own.text).toBe(packaged?.message.content ?? '')
    expect(own.end).toMatchObject({ type: 'finished', reason: packaged?.finish_reason })
    expect(own.calls).toMatchObject(
      (packaged?.message.tool_calls ?? []).map((call) =>
        call.type === 'function'
          ? { id: call.id, name: call.function.name, arguments: call.function.arguments }
          : call,
      ),
    )
  })
})
