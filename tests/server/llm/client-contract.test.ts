// What every `LlmClient` guarantees, for each implementation: the three APIs, prompt mode, fallback, the demo.
import { describe, expect, test } from 'vitest'
import type { LlmClient, LlmRequest, ToolSchema } from '../../../server/llm/client.ts'
import type { ModelSettings } from '../../../server/protocol/models/catalog.ts'
import { readArguments } from '../../../server/tools/definition.ts'
import { llmRequest, outcome, readResponse } from '../../support/provider/llm.ts'
import { messagesTurn } from '../../support/provider/messages-turns.ts'
import { useCatalogs } from '../../support/provider/model-catalogs.ts'
import { called, reasoned, responsesTurn, said } from '../../support/provider/responses-turns.ts'
import { type Turn, turn } from '../../support/provider/upstream-turns.ts'
import { useFreshUpstream } from '../../support/provider/use-upstream.ts'

const upstream = useFreshUpstream()
const createCatalog = useCatalogs()

const tool = (name: string): ToolSchema => ({
  type: 'function',
  function: { name, description: '', parameters: { type: 'object' } },
})
const question: Partial<LlmRequest> = {
  messages: [{ role: 'user', content: 'What time is it?' }],
  tools: [tool('get_current_time'), tool('calculator')],
  thinking: true,
}
const sum = { expression: '2 + 2' }
const native = turn.toolCalls(
  [{ name: 'get_current_time' }, { name: 'calculator', arguments: sum }],
  { text: 'I look.', thinking: 'Hmm.' },
)
const written = turn.thinking(
  'Hmm.',
  `I look.\n\n\`\`\`json\n{"tool_call": {"name": "get_current_time", "arguments": {}}}\n${JSON.stringify(
    { name: 'calculator', arguments: sum },
  )}\n\`\`\``,
)
const messages = messagesTurn([
  { type: 'thinking', thinking: 'Hmm.', signature: 'signed' },
  { type: 'text', text: 'I look.' },
  { type: 'tool_use', id: 'toolu_1', name: 'get_current_time', input: {} },
  { type: 'tool_use', id: 'toolu_2', name: 'calculator', input: sum },
])
const responses = responsesTurn([
  reasoned('Hmm.'),
  said('I look.'),
  called('call_1', 'get_current_time'),
  called('call_2', 'calculator', sum),
])

const clients: [name: string, models: Partial<ModelSettings>[], answer: Turn | null][] = [
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

  test('yields thinking, text, complete parallel calls with ids, and one final event with usage', async () => {
    if (answer !== null) upstream.enqueue(answer)
    const response = await readResponse(await client(), llmRequest(question))
    expect([response.thinking, response.text]).not.toContain('')
    const calls = response.calls.map((call) => [call.name, JSON.parse(call.arguments)])
    const both = [
      ['get_current_time', {}],
      ['calculator', sum],
    ]
    expect(calls).toEqual(answer === null ? both.slice(0, 1) : both)
    expect(new Set(['', ...response.calls.map(({ id }) => id)]).size).toBe(calls.length + 1)
    const estimated = answer === null
    expect(response.end).toMatchObject({ type: 'finished', reason: 'tool_calls', estimated })
    expect(response.end.usage?.total_tokens).toBeGreaterThan(0)
    // No piece is empty.
    expect(response.said.every((one) => !('text' in one) || one.text !== '')).toBe(true)
  })

  test.skipIf(answer === null)(
    'sends no half of a character, because providers refuse it',
    async () => {
      upstream.enqueue(words)
      const half = '\u{1f600}'.slice(0, 1)
      const { function: fields } = tool('cut')
      await readResponse(
        await client(),
        llmRequest({
          messages: [{ role: 'user', content: `${half}, \u{1f600} and \\ud83d` }],
          tools: [{ type: 'function', function: { ...fields, description: half } }],
        }),
      )
      const sent = JSON.stringify(upstream.requests.at(-1)?.body)
      expect(sent).toContain('\ufffd, \u{1f600} and \\\\ud83d')
      expect(sent).not.toMatch(/(?<!\\)\\ud83d/)
    },
  )

  test.skipIf(answer === null)(
    'ends with one failure that gives the reason, and keeps the part that arrived',
    async () => {
      const llm = await client()
      const faults: [Turn, string][] = [
        [turn.error(401), 'model_unauthorized'],
        [turn.error(400, 'no such field'), 'model_refused'],
        [turn.error(429), 'model_rate_limited'],
        [turn.error(529), 'model_unavailable'],
        [turn.html(200), 'model_bad_answer'],
      ]
      for (const [fault, code] of faults) {
        // Enough for a retry, and for a fallback with its own.
        upstream.enqueue(fault, fault, fault, fault)
        expect(outcome(await readResponse(llm, llmRequest(question)))).toBe(code)
        upstream.reset()
      }
      for (const how of ['end', 'fin', 'reset'] as const) {
        upstream.enqueue(turn.cut(words, 2, how))
        const response = await readResponse(llm, llmRequest(question))
        expect(outcome(response)).toBe('model_stream_broken')
        expect('some words').toContain(response.text)
        expect(response.text).not.toBe('')
      }
    },
  )

  test.skipIf(answer === null || answer === written)(
    'never runs a call that was cut off before its arguments',
    async () => {
      const call = { name: 'calculator', arguments: '' }
      upstream.enqueue(
        answer === messages
          ? messagesTurn([{ type: 'tool_use', id: 'toolu_1', name: 'calculator' }], {
              stop_reason: 'max_tokens',
            })
          : answer === responses
            ? responsesTurn([{ ...called('call_1', 'calculator'), arguments: '' }], {
                status: 'incomplete',
                incomplete_details: { reason: 'max_output_tokens' },
              })
            : turn.toolCalls([call], { finishReason: 'length' }),
      )
      const { calls } = await readResponse(await client(), llmRequest(question))
      expect(calls.map(({ name }) => name)).toEqual(['calculator'])
      expect(readArguments(calls[0]?.arguments ?? '')).toMatchObject({
        ok: false,
        error: expect.stringContaining('make the call again with less in it'),
      })
    },
  )

  test('handles two requests at once', async () => {
    if (answer !== null) upstream.enqueue(answer, answer)
    const llm = await client()
    const both = await Promise.all([1, 2].map(() => readResponse(llm, llmRequest(question))))
    const calls = answer === null ? 1 : 2
    expect(both.map((response) => response.calls.length)).toEqual([calls, calls])
  })

  test('ends with a failure instead of throwing when it is stopped before or during the response', async () => {
    const stopped = await readResponse(
      await client(),
      llmRequest({ ...question, signal: AbortSignal.abort() }),
    )
    expect(stopped.end.type).toBe('failed')
    if (answer !== null) upstream.enqueue(turn.cut(words, 2, 'stall'))
    const controller = new AbortController()
    const request = llmRequest({ ...question, signal: controller.signal })
    const response = await readResponse(await client(), request, () => controller.abort())
    expect(response.end.type).toBe('failed')
    expect(response.calls).toEqual([])
  })

  test('closes the response when the receiver of the text fails, and passes its error on', async () => {
    if (answer !== null) upstream.enqueue(turn.cut(words, 2, 'stall'))
    const full = new Error('The disk is full.')
    const failing = () => {
      throw full
    }
    await expect(readResponse(await client(), llmRequest(question), failing)).rejects.toBe(full)
    if (answer !== null) expect(await (await upstream.nextRequest()).closed).toBe('client_left')
  })
})
