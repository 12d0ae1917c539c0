// What every `LlmClient` guarantees, for each implementation: the three APIs, prompt mode, fallback, the demo.
import { describe, expect, test } from 'vitest'
import type { LlmClient, LlmRequest, ToolSchema } from '../../../server/llm/client.ts'
import type { ModelSettings } from '../../../server/protocol/catalog.ts'
import { hear, llmRequest } from '../../support/llm.ts'
import { messagesTurn } from '../../support/messages-turns.ts'
import { useCatalogs } from '../../support/model-catalogs.ts'
import { called, responsesTurn, said } from '../../support/responses-turns.ts'
import { turn } from '../../support/upstream-turns.ts'
import { useFreshUpstream } from '../../support/use-upstream.ts'

const upstream = useFreshUpstream()
const createCatalog = useCatalogs()

const clock: ToolSchema = {
  type: 'function',
  function: { name: 'get_current_time', description: '', parameters: { type: 'object' } },
}
const question: Partial<LlmRequest> = {
  messages: [{ role: 'user', content: 'What time is it?' }],
  tools: [clock],
}
const native = turn.toolCalls([{ name: 'get_current_time', arguments: {} }], { text: 'I look.' })
const written = turn.text(
  'I look.\n\n```json\n{"tool_call": {"name": "get_current_time", "arguments": {}}}\n```',
)

const messages = messagesTurn([
  { type: 'text', text: 'I look.' },
  { type: 'tool_use', id: 'toolu_1', name: 'get_current_time', input: {} },
])

const responses = responsesTurn([said('I look.'), called('call_1', 'get_current_time')])

const clients: [name: string, models: Partial<ModelSettings>[], answer: typeof native | null][] = [
  ['OpenAI format', [{ id: 'a' }], native],
  ['Responses API', [{ id: 'a', api: 'responses' }], responses],
  ['Messages API', [{ id: 'a', api: 'messages' }], messages],
  ['prompt mode', [{ id: 'a', tool_mode: 'prompt' }], written],
  ['a model with a fallback', [{ id: 'a', fallback: ['b'] }, { id: 'b' }], native],
  ['the demo', [], null],
]

describe.each(clients)('%s', (_name, models, answer) => {
  const words =
    answer === messages
      ? messagesTurn([{ type: 'text', text: 'some words' }])
      : answer === responses
        ? responsesTurn([said('some words')])
        : turn.text('some words')
  const client = async (): Promise<LlmClient> => {
    const catalog = createCatalog({
      models: models.map((model) => ({ id: 'a', api_url: upstream.url, ...model })),
      demoDelayMs: 1,
    })
    return (await catalog.resolve()).client
  }

  test('yields text, complete calls with ids, and one final event with usage', async () => {
    if (answer !== null) upstream.enqueue(answer)
    const heard = await hear(await client(), llmRequest(question))
    expect(heard.text).not.toBe('')
    expect(heard.calls).toMatchObject([{ name: 'get_current_time', arguments: '{}' }])
    expect(heard.calls[0]?.id.length).toBeGreaterThan(0)
    expect(heard.end).toMatchObject({ type: 'finished', reason: 'tool_calls' })
    expect(heard.end.usage?.total_tokens).toBeGreaterThan(0)
    expect(heard.batches.every((batch) => batch.length > 0)).toBe(true)
  })

  test('handles two requests at once', async () => {
    if (answer !== null) upstream.enqueue(answer, answer)
    const asked = await client()
    const both = await Promise.all([1, 2].map(() => hear(asked, llmRequest(question))))
    expect(both.map(({ calls }) => calls.length)).toEqual([1, 1])
  })

  test('ends with a failure instead of throwing when it is stopped before or during the response', async () => {
    const stopped = await hear(
      await client(),
      llmRequest({ ...question, signal: AbortSignal.abort() }),
    )
    expect(stopped.end.type).toBe('failed')
    if (answer !== null) upstream.enqueue(turn.cut(words, 2, 'stall'))
    const controller = new AbortController()
    const request = llmRequest({ ...question, signal: controller.signal })
    const heard = await hear(await client(), request, () => controller.abort())
    expect(heard.end.type).toBe('failed')
    expect(heard.calls).toEqual([])
  })

  test('closes the response when its consumer leaves', async () => {
    if (answer !== null) upstream.enqueue(turn.cut(words, 2, 'stall'))
    for await (const batch of (await client()).stream(llmRequest(question))) {
      expect(batch.length).toBeGreaterThan(0)
      break
    }
    if (answer !== null) expect(await (await upstream.nextRequest()).closed).toBe('client_left')
  })
})
