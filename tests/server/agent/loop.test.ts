// The agent loop in isolation: the order of its events, the calls that it passes to the tools, its failures.
import { describe, expect, test } from 'vitest'
import { AppError, appError } from '../../../server/errors.ts'
import type { CallResult } from '../../../server/tools/tool-result.ts'
import {
  calling,
  finished,
  type Script,
  says,
  scriptedClient,
  text,
  thinking,
  toolCall,
  usage,
} from '../../support/provider/scripted-client.ts'
import { answerTo, inShort, question, run } from './run-loop.ts'

describe('the order of events', () => {
  test('is text, tool calls, results in the order of the calls, and the final answer', async () => {
    const { events, requests, batches } = await run([
      says([
        thinking('Hm.'),
        text('Let me look.'),
        ...calling(toolCall('a'), toolCall('b')),
        finished('tool_calls'),
      ]),
      says([text('Found'), text(' it.'), finished()]),
    ])
    expect(inShort(events)).toEqual([
      'thinking:Hm.',
      'text:Let me look.',
      'iteration:a+b',
      'result:a',
      'result:b',
      'text:Found',
      'text: it.',
      'iteration:stop',
    ])
    expect(batches.map((calls) => calls.map(({ id }) => id))).toEqual([['a', 'b']])
    expect(requests[1]?.messages).toEqual([
      ...question,
      {
        role: 'assistant',
        content: 'Let me look.',
        reasoning: 'Hm.',
        toolCalls: [toolCall('a'), toolCall('b')],
      },
      { role: 'tool', callId: 'a', name: 'look', content: answerTo(toolCall('a')).content },
      { role: 'tool', callId: 'b', name: 'look', content: answerTo(toolCall('b')).content },
    ])
    expect(events.at(-1)).toMatchObject({ usage, model: 'scripted-1' })
  })

  test('a request does not change after it was sent', async () => {
    const { requests } = await run([
      says([...calling(toolCall('a')), finished('tool_calls')]),
      says([text('Done.'), finished()]),
    ])
    expect(requests[0]?.messages).toEqual(question)
  })

  test('the next request starts only after the consumer has taken the previous result', async () => {
    let requestsAtResult = -1
    const llm = scriptedClient(
      says([...calling(toolCall('a')), finished('tool_calls')]),
      says([text('Done.'), finished()]),
    )
    await run([], { llm }, (event) => {
      if (event.type === 'result') requestsAtResult = llm.requests.length
      return undefined
    })
    expect(requestsAtResult).toBe(1)
    expect(llm.requests).toHaveLength(2)
  })

  test('a response without text or calls ends the run with an empty answer', async () => {
    const { events } = await run([says([finished()])])
    expect(inShort(events)).toEqual(['iteration:stop'])
  })

  test("a response cut off at the provider's limit ends with the reason length", async () => {
    const { events } = await run([says([text('Half a sen'), finished('length')])])
    expect(inShort(events)).toEqual(['text:Half a sen', 'iteration:length'])
  })

  test('a retry of the client is passed on, and the loop repeats nothing itself', async () => {
    const error = appError('model_call_unreadable')
    const retrying = { type: 'retrying', attempt: 1, delayMs: 0, error } as const
    const { events, requests } = await run([says([retrying, text('Hi.'), finished()])])
    expect(inShort(events)).toEqual(['retrying', 'text:Hi.', 'iteration:stop'])
    expect(requests).toHaveLength(1)
  })
})

describe('calls left over from before a restart', () => {
  test('run first, and the model is called only with their results', async () => {
    const pendingCalls = [toolCall('a'), toolCall('b')]
    const { events, requests } = await run([says([text('Done.'), finished()])], {
      messages: [...question, { role: 'assistant', content: '', toolCalls: pendingCalls }],
      pendingCalls,
    })
    expect(inShort(events)).toEqual(['result:a', 'result:b', 'text:Done.', 'iteration:stop'])
    expect(requests[0]?.messages.slice(-2)).toMatchObject([
      { role: 'tool', callId: 'a' },
      { role: 'tool', callId: 'b' },
    ])
  })
})

describe('failures', () => {
  test('of the model end the run with the error, the usage and the text so far', async () => {
    const error = new AppError('model_unavailable', 'The model is away.', { retryable: true })
    const { events } = await run([says([text('Half'), { type: 'failed', error, usage }])])
    expect(inShort(events)).toEqual(['text:Half', 'failed:model_unavailable'])
    expect(events.at(-1)).toMatchObject({ error, usage })
  })

  test('calls of a response that failed are not run', async () => {
    const error = new AppError('model_unavailable', 'The model is away.')
    const { events, batches } = await run([
      says([...calling(toolCall('a')), { type: 'failed', error }]),
    ])
    expect(inShort(events)).toEqual(['failed:model_unavailable'])
    expect(batches).toEqual([])
  })

  test('a response without a final event is a failure, not an answer', async () => {
    const { events } = await run([says([text('And then')])])
    expect(inShort(events)).toEqual(['text:And then', 'failed:model_bad_answer'])
  })

  test.each(['runTools', 'budgetLeft', 'fitToWindow', 'prose'] as const)(
    'of the store in %s reach the consumer unchanged',
    async (name) => {
      const fault = new AppError('store_unavailable', 'The database is away.')
      const failing = {
        // biome-ignore lint/correctness/useYield: it fails before its first result
        async *runTools(): AsyncGenerator<CallResult> {
          throw fault
        },
        budgetLeft: () => Promise.reject(fault),
        fitToWindow: () => Promise.reject(fault),
        prose: { append: () => Promise.reject(fault), textWasThinking: () => undefined },
      }
      await expect(
        run([says([text('Hm.'), ...calling(toolCall('a')), finished('tool_calls')])], {
          [name]: failing[name],
        }),
      ).rejects.toBe(fault)
    },
  )
})

describe('a consumer that leaves', () => {
  test('in the middle of a response closes the response', async () => {
    let closed = false
    const script: Script = async function* () {
      try {
        yield [text('One.')]
        yield [text('Two.')]
      } finally {
        closed = true
      }
    }
    const { events } = await run([script], {}, () => 'leave')
    expect(inShort(events)).toEqual(['text:One.'])
    expect(closed).toBe(true)
  })

  test('between two results stops the tools', async () => {
    let ended = false
    const { events } = await run(
      [says([...calling(toolCall('a'), toolCall('b')), finished('tool_calls')])],
      {
        async *runTools(calls) {
          try {
            for (const call of calls) yield answerTo(call)
          } finally {
            ended = true
          }
        },
      },
      ({ type }) => (type === 'result' ? 'leave' : undefined),
    )
    expect(inShort(events)).toEqual(['iteration:a+b', 'result:a'])
    expect(ended).toBe(true)
  })
})
