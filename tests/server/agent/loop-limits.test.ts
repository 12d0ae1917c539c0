// What the agent loop sends to the model: unique call ids, tools within the limits, messages that fit the window.
import { describe, expect, test } from 'vitest'
import type { LlmMessage } from '../../../server/llm/client.ts'
import { calling, finished, says, text, toolCall } from '../../support/provider/scripted-client.ts'
import { inShort, type LoopRun, question, run } from './run-loop.ts'

describe('call ids', () => {
  const idsOf = ({ events }: LoopRun): string[] =>
    events.flatMap((event) => (event.type === 'iteration' ? event.calls.map(({ id }) => id) : []))

  test('that repeat within an iteration, over iterations or from earlier turns are made unique', async () => {
    const earlier: LlmMessage[] = [
      { role: 'assistant', content: '', toolCalls: [toolCall('call_0')] },
      { role: 'tool', callId: toolCall('call_0').id, name: 'look', content: '{}' },
    ]
    const result = await run(
      [
        says([
          ...calling(toolCall('call_0'), toolCall('call_0'), toolCall('x')),
          finished('tool_calls'),
        ]),
        says([...calling(toolCall('call_0'), toolCall('x')), finished('tool_calls')]),
        says([text('Done.'), finished()]),
      ],
      { messages: [...question, ...earlier] },
    )
    expect(idsOf(result)).toEqual(['call_0-2', 'call_0-3', 'x', 'call_0-4', 'x-2'])
    const messages = result.requests.at(-1)?.messages ?? []
    const asked = messages.flatMap((m) => (m.role === 'assistant' ? (m.toolCalls ?? []) : []))
    const results = messages.flatMap((m) => (m.role === 'tool' ? [m.callId] : []))
    expect(asked.map(({ id }) => id)).toEqual(results)
    expect(new Set(results).size).toBe(results.length)
  })

  test('of maximum length that repeat become unique without becoming longer', async () => {
    const long = 'i'.repeat(200)
    const ids = idsOf(
      await run([
        says([...calling(toolCall(long), toolCall(long), toolCall(long)), finished('tool_calls')]),
        says([text('Done.'), finished()]),
      ]),
    )
    expect(new Set(ids).size).toBe(3)
    for (const id of ids) expect(id.length).toBeLessThanOrEqual(200)
  })
})

describe('limits', () => {
  const endless = Array.from({ length: 4 }, (_, at) =>
    says([...calling(toolCall(`call-${at}`)), finished('tool_calls')]),
  )

  test('after the last allowed iteration the model is called once more, with the same tools but told to call none', async () => {
    const { events, requests, batches } = await run(
      [...endless.slice(0, 2), says([text('That is all I know.'), finished()])],
      { maxIterations: 2 },
    )
    expect(inShort(events).slice(-2)).toEqual([
      'text:That is all I know.',
      'iteration:max_iterations',
    ])
    expect(batches).toHaveLength(2)
    // The same tools: the request begins as the one before, so the provider's cache is hit.
    expect(requests.map(({ tools, toolChoice }) => [tools.length, toolChoice])).toEqual([
      [1, undefined],
      [1, undefined],
      [1, 'none'],
    ])
    expect(requests.at(-1)?.messages.at(-1)).toMatchObject({
      role: 'user',
      content: expect.stringContaining('do not call tools'),
    })
  })

  test('calls in the response after the limit are not run', async () => {
    const { events, batches } = await run(endless, { maxIterations: 1 })
    expect(events.at(-1)).toMatchObject({ type: 'iteration', calls: [], finish: 'max_iterations' })
    expect(batches).toHaveLength(1)
  })

  test('with no iteration left the first request forces no call', async () => {
    const { requests } = await run([says([text('Hi.'), finished()])], {
      maxIterations: 0,
      request: { toolChoice: 'required' },
    })
    expect(requests).toMatchObject([{ toolChoice: 'none' }])
  })

  test('a used-up budget ends the run before the next request, after the results', async () => {
    let left = 1
    const { events, requests } = await run(endless, { budgetLeft: async () => left-- > 0 })
    expect(inShort(events)).toEqual(['iteration:call-0', 'result:call-0', 'iteration:budget'])
    expect(requests).toHaveLength(1)
  })

  test('the messages are fitted to the window before each request, and the history keeps all of them', async () => {
    const given: number[] = []
    const { requests } = await run([...endless.slice(0, 2), says([text('.'), finished()])], {
      fitToWindow: async (messages) => {
        given.push(messages.length)
        return messages.slice(-1)
      },
    })
    expect(requests.map(({ messages }) => messages.length)).toEqual([1, 1, 1])
    expect(given).toEqual([2, 4, 6])
  })
})

describe('a forced tool choice', () => {
  const scripts = [
    says([...calling(toolCall('a')), finished('tool_calls')]),
    says([text('Done.'), finished()]),
  ]

  test('applies to the first iteration only', async () => {
    const { requests } = await run(scripts, { request: { toolChoice: 'required' } })
    expect(requests[0]?.toolChoice).toBe('required')
    expect(requests[1]).not.toHaveProperty('toolChoice')
  })

  test('is not sent when there are no tools', async () => {
    const { requests } = await run([says([text('Hi.'), finished()])], {
      tools: [],
      request: { toolChoice: 'required' },
    })
    expect(requests[0]).not.toHaveProperty('toolChoice')
  })
})
