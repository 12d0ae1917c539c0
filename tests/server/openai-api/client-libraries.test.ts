// The AI SDK and LangChain run the agent with its tools and with their own, as their users would.
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { type TestServer, useServers } from '../../support/server/server.ts'

const upstream = await useUpstream()
const { start } = useServers()
let server: TestServer
beforeAll(async () => {
  server = await start({
    config: { models: [{ id: 'scripted', api_url: upstream.url }], titles: 'off' },
  })
})
/** With tools of the server beside the program's own. */
const MODEL = 'nanoclaw/scripted:tools'
const calculator = { name: 'calculator', arguments: { expression: '2 + 2' } }
const ownCall = { name: 'thermometer', arguments: { room: 'hall' } }
const thermometer = tool({
  description: 'Reads the thermometer on the wall.',
  inputSchema: z.object({ room: z.string() }),
  execute: async ({ room }) => `21 °C in the ${room}`,
})

/** Server tool and own tool in one iteration, then the answer. */
const script = () =>
  upstream.enqueue(turn.toolCalls([calculator, ownCall]), turn.text('21 degrees, and 4.'))

const providers = {
  openai: () => createOpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none' })(MODEL),
  'openai (chat)': () => createOpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none' }).chat(MODEL),
  'openai-compatible': () =>
    createOpenAICompatible({ name: 'nanoclaw', baseURL: `${server.url}/v1`, includeUsage: true })(
      MODEL,
    ),
}

test.each(Object.entries(providers))(
  'the AI SDK with its provider %s gets an answer that needs tools of both sides, complete and streamed',
  async (_name, model) => {
    const question = {
      prompt: 'How warm is it, and how much is 2 + 2?',
      tools: { thermometer },
      stopWhen: stepCountIs(4),
      maxRetries: 0,
    }
    script()
    const whole = await generateText({ ...question, model: model() })
    expect(whole.text).toBe('21 degrees, and 4.')
    expect(whole.usage.inputTokens).toBe(10)
    expect(upstream.requests.at(-1)?.messages.at(-1)?.content).toContain('21 °C in the hall')

    script()
    const streamed = streamText({ ...question, model: model(), onError() {} })
    expect(await streamed.text).toBe('21 degrees, and 4.')
    expect(await streamed.finishReason).toBe('stop')
    expect(upstream.requests.at(-1)?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'tool',
    ])
    upstream.expectDone()
  },
)

test.each([false, true])(
  "LangChain's ChatOpenAI gets an answer that needs tools of both sides (Responses API: %s)",
  async (useResponsesApi) => {
    const chat = new ChatOpenAI({
      model: MODEL,
      apiKey: 'none',
      maxRetries: 0,
      useResponsesApi,
      configuration: { baseURL: `${server.url}/v1` },
    })
    const withTools = chat.bindTools([
      {
        type: 'function',
        function: { name: 'thermometer', parameters: { type: 'object', properties: {} } },
      },
    ])
    script()
    const question = new HumanMessage('How warm is it, and how much is 2 + 2?')
    const first = await withTools.invoke([question])
    const [call] = first.tool_calls ?? []
    expect(call).toMatchObject({ name: 'thermometer', args: { room: 'hall' } })
    const result = new ToolMessage({ tool_call_id: call?.id ?? '', content: '21 °C' })
    let text = ''
    for await (const chunk of await withTools.stream([question, first, result])) text += chunk.text
    expect(text).toBe('21 degrees, and 4.')
    expect(upstream.requests.at(-1)?.messages.at(-1)?.content).toBe('21 °C')
    upstream.expectDone()
  },
)
