// Prompt mode end to end: tools in the system prompt, calls parsed from the text, retries for unreadable calls.
import { describe, expect, test } from 'vitest'
import type { LlmMessage, LlmRequest, ToolSchema } from '../../../../server/llm/client.ts'
import type { ModelSettings } from '../../../../server/protocol/models/catalog.ts'
import { llmRequest, outcome, readResponse } from '../../../support/provider/llm.ts'
import { useCatalogs } from '../../../support/provider/model-catalogs.ts'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { useFreshUpstream } from '../../../support/provider/use-upstream.ts'

const upstream = useFreshUpstream()
const createCatalog = useCatalogs()

const weather: ToolSchema = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather of a city.',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Name of the city.' },
        units: { enum: ['metric', 'imperial'], default: 'metric' },
        days: { type: 'array', items: { type: 'integer' } },
      },
      required: ['city'],
    },
  },
}
const ask = async (more: Partial<LlmRequest> = {}, settings: Partial<ModelSettings> = {}) => {
  const catalog = createCatalog({
    models: [{ id: 'p', api_url: upstream.url, tool_mode: 'prompt', ...settings }],
  })
  const { client } = await catalog.resolve()
  return readResponse(client, llmRequest({ tools: [weather], ...more }))
}
const good = '```json\n{"tool_call": {"name": "get_weather", "arguments": {"city": "Paris"}}}\n```'
const bad = '{"tool_call": {"name": "get_weather", "arguments": {"city": "Par'

describe('prompt mode', () => {
  test('describes the tools in the system prompt and offers none to the provider', async () => {
    upstream.enqueue(turn.text('hello'))
    await ask({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hi' },
      ],
    })
    const { body, messages } = await upstream.nextRequest()
    expect(Object.keys(body)).not.toContain('tools')
    const system = String(messages[0]?.content)
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user'])
    expect(system).toMatch(/^Be brief\.\n\n# Tools/)
    expect(system).toContain('## get_weather\n\nThe weather of a city.')
    expect(system).toContain('- city (string, required): Name of the city.')
    expect(system).toContain('- units ("metric" | "imperial", optional, default "metric")')
    expect(system).toContain('{"tool_call": {"name"')
  })

  test('yields the calls in the text like those of any model', async () => {
    upstream.enqueue(
      turn.thinking('hm {"tool_call": 1}', `Let me look.\n\n${good}`, { chunkSize: 3 }),
    )
    const response = await ask()
    expect(response).toMatchObject({ text: 'Let me look.', thinking: 'hm {"tool_call": 1}' })
    expect(response.calls).toMatchObject([{ name: 'get_weather', arguments: '{"city":"Paris"}' }])
    expect(outcome(response)).toBe('finished:tool_calls')
  })

  test('passes on an answer without calls unchanged', async () => {
    upstream.enqueue(turn.text('It is `sunny`.\n'))
    const response = await ask()
    expect([response.text, outcome(response)]).toEqual(['It is `sunny`.\n', 'finished:stop'])
  })

  test('asks again for an unreadable call, says what was wrong, and sums the usage', async () => {
    upstream.enqueue(turn.text(`Sure.\n${bad}`), turn.text(good))
    const response = await ask()
    expect(response.text).toBe('Sure.')
    expect(response.calls).toHaveLength(1)
    expect(response.retries).toHaveLength(1)
    expect(response.end.usage?.prompt_tokens).toBe(20)
    await upstream.nextRequest()
    const { messages } = await upstream.nextRequest()
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
    expect(messages.at(-1)?.content).toContain('it ends in the middle of a string')
    upstream.expectDone()
  })

  test('asks again at most twice, then fails without showing what the model wrote', async () => {
    upstream.enqueue(turn.text(bad), turn.text(bad), turn.text(bad))
    const response = await ask()
    expect(response.retries).toHaveLength(2)
    expect(response.end).toMatchObject({ error: { reason: 'model_call_malformed' } })
    expect([response.calls, response.text]).toEqual([[], ''])
    expect(response.end.usage?.prompt_tokens).toBe(30)
    upstream.expectDone()
  })

  test.each([
    '<tool_call>get_weather in Paris please</tool_call>',
    '<tool_call>\nget_weather in Paris please\n</tool_call>',
    '<tool_call>\nget_weather in Paris please\nand soon\n</tool_call>',
    'Let me look: <tool_call>get_weather in Paris please</tool_call>',
    '<tool_call>get_weather in Paris please',
  ])('says what was wrong with words in a tag, and shows none of them: %j', async (words) => {
    upstream.enqueue(turn.text(words, { chunkSize: 3 }), turn.text(good))
    const response = await ask()
    expect([response.text.trim(), response.calls.length, response.retries.length]).toEqual([
      words.startsWith('Let') ? 'Let me look:' : '',
      1,
      1,
    ])
    await upstream.nextRequest()
    const { messages } = await upstream.nextRequest()
    expect(messages.at(-1)?.content).toContain('there is no call in the tag')
  })

  const callId = 'call_x' as never
  const history: LlmMessage[] = [
    { role: 'user', content: 'weather?' },
    {
      role: 'assistant',
      content: 'Let me look.',
      toolCalls: [{ id: callId, name: 'get_weather', arguments: '{"city":"Paris"}' }],
    },
    { role: 'tool', callId, name: 'get_weather', content: '{"success":true,"data":"sunny"}' },
  ]

  test('sends results as text of the user', async () => {
    upstream.enqueue(turn.text('Sunny.'))
    await ask({ messages: history })
    const { messages } = await upstream.nextRequest()
    expect(messages.slice(1)).toEqual([
      { role: 'user', content: 'weather?' },
      {
        role: 'assistant',
        content: `Let me look.\n\n\`\`\`json\n{"tool_call": {"name": "get_weather", "arguments": {"city":"Paris"}}}\n\`\`\``,
      },
      {
        role: 'user',
        content:
          '<tool_result name="get_weather">\n{"success":true,"data":"sunny"}\n</tool_result>',
      },
    ])
  })

  test('sends results as messages of the role tool if the model is configured so', async () => {
    upstream.enqueue(turn.text('Sunny.'))
    await ask({ messages: history }, { tool_results: 'tool' })
    const { messages } = await upstream.nextRequest()
    expect(messages.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'call_x' })
  })

  test('describes no tools and reads no calls in an iteration without tools', async () => {
    upstream.enqueue(turn.text(good), turn.text(good))
    for (const without of [{ tools: [] }, { toolChoice: 'none' as const }]) {
      const response = await ask(without)
      expect([response.text, response.calls]).toEqual([good, []])
    }
    expect((await upstream.nextRequest()).messages.map(({ role }) => role)).toEqual(['user'])
  })

  test('ignores calls in text of the user', async () => {
    upstream.enqueue(turn.text('No.'))
    const response = await ask({ messages: [{ role: 'user', content: good }] })
    expect(response.calls).toEqual([])
  })

  test('keeps the text of a broken stream and drops its incomplete call', async () => {
    upstream.enqueue(turn.cut(turn.text(`Look: \n${good}`, { chunkSize: 20 }), 4, 'fin'))
    const response = await ask()
    expect([response.text, response.calls, outcome(response)]).toEqual([
      'Look:',
      [],
      'model_stream_broken',
    ])
  })
})
