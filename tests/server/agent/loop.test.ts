// The agent loop alone: a scripted model, tools that are functions, no database and no HTTP.
import { describe, expect, test } from 'vitest'
import { type AgentLoopInput, type LoopEvent, runAgentLoop } from '../../../server/agent/loop.ts'
import { AppError } from '../../../server/errors.ts'
import type { LlmMessage, ToolCall } from '../../../server/llm/client.ts'
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
} from '../../support/scripted-client.ts'

const answerTo = (call: ToolCall): CallResult => ({
  call,
  content: `{"success":true,"data":"result of ${call.id}"}`,
  skipped: false,
  success: true,
  untrusted: false,
})

const question: LlmMessage[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Look it up.' },
]
const look = {
  type: 'function' as const,
  function: { name: 'look', description: 'Looks.', parameters: {} },
}

interface LoopRun {
  events: LoopEvent[]
  requests: ReturnType<typeof scriptedClient>['requests']
  /** The calls of each batch that was handed to the tools. */
  batches: (readonly ToolCall[])[]
}

/** Runs the loop to its end, or until `onEvent` has had enough. */
async function run(
  scripts: Script[],
  more: Partial<AgentLoopInput> = {},
  onEvent: (event: LoopEvent, count: number) => 'leave' | undefined = () => undefined,
): Promise<LoopRun> {
  const llm = scriptedClient(...scripts)
  const batches: (readonly ToolCall[])[] = []
  const events: LoopEvent[] = []
  const runTools: AgentLoopInput['runTools'] =
    more.runTools ??
    async function* (calls) {
      for (const call of calls) yield answerTo(call)
    }
  const loop = runAgentLoop({
    llm,
    messages: question,
    tools: [look],
    request: {},
    maxIterations: 5,
    pendingCalls: [],
    budgetLeft: async () => true,
    fitToWindow: async (messages) => messages,
    signal: new AbortController().signal,
    ...more,
    runTools(calls) {
      batches.push(calls)
      return runTools(calls)
    },
  })
  for await (const event of loop) {
    events.push(event)
    if (onEvent(event, events.length) === 'leave') break
  }
  return { events, requests: llm.requests, batches }
}

/** One word for each event, enough to compare an order. */
const inShort = (events: readonly LoopEvent[]): string[] =>
  events.map((event) => {
    switch (event.type) {
      case 'prose':
        return `${event.kind}:${event.text}`
      case 'iteration':
        return `iteration:${event.calls.map(({ id }) => id).join('+')}${event.finish ?? ''}`
      case 'result':
        return `result:${event.result.call.id}`
      case 'failed':
        return `failed:${event.error.code}`
      default:
        return event.type
    }
  })

describe('the order of events', () => {
  test('text, calls, results in the order of the calls, and the final answer', async () => {
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

  test('the next request starts only after the consumer has taken the result before it', async () => {
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

  test('a retry of the client is passed on and starts nothing again', async () => {
    const retrying = { type: 'retrying', attempt: 1, delayMs: 0, reason: 'busy' } as const
    const { events, requests } = await run([says([retrying, text('Hi.'), finished()])])
    expect(inShort(events)).toEqual(['retrying', 'text:Hi.', 'iteration:stop'])
    expect(requests).toHaveLength(1)
  })
})

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

  test('of the greatest length that repeat stay unique and within the length', async () => {
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

  test('after the last allowed iteration the model is called once more, without tools', async () => {
    const { events, requests, batches } = await run(
      [...endless.slice(0, 2), says([text('That is all I know.'), finished()])],
      { maxIterations: 2 },
    )
    expect(inShort(events).slice(-2)).toEqual([
      'text:That is all I know.',
      'iteration:max_iterations',
    ])
    expect(batches).toHaveLength(2)
    expect(requests.map(({ tools }) => tools.length)).toEqual([1, 1, 0])
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

  test('with no iteration left the first request has no tools and forces none', async () => {
    const { requests } = await run([says([text('Hi.'), finished()])], {
      maxIterations: 0,
      request: { toolChoice: 'required' },
    })
    expect(requests).toMatchObject([{ tools: [] }])
    expect(requests[0]).not.toHaveProperty('toolChoice')
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

  test('holds for the first iteration only', async () => {
    const { requests } = await run(scripts, { request: { toolChoice: 'required' } })
    expect(requests[0]?.toolChoice).toBe('required')
    expect(requests[1]).not.toHaveProperty('toolChoice')
  })

  test('is left out where there are no tools', async () => {
    const { requests } = await run([says([text('Hi.'), finished()])], {
      tools: [],
      request: { toolChoice: 'required' },
    })
    expect(requests[0]).not.toHaveProperty('toolChoice')
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
  test('of the model end the run with its error, its usage, and what came before', async () => {
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

  test('a response that ends without saying so is a failure, not an answer', async () => {
    const { events } = await run([says([text('And then')])])
    expect(inShort(events)).toEqual(['text:And then', 'failed:model_bad_answer'])
  })

  test.each(['runTools', 'budgetLeft', 'fitToWindow'] as const)(
    'of the store in %s reach the consumer as they are',
    async (name) => {
      const fault = new AppError('store_unavailable', 'The database is away.')
      const failing = {
        // biome-ignore lint/correctness/useYield: it fails before its first result
        async *runTools(): AsyncGenerator<CallResult> {
          throw fault
        },
        budgetLeft: () => Promise.reject(fault),
        fitToWindow: () => Promise.reject(fault),
      }
      await expect(
        run([says([...calling(toolCall('a')), finished('tool_calls')])], { [name]: failing[name] }),
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

  test('between two results ends the tools', async () => {
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

describe('an abort', () => {
  /** A run of two iterations whose every await passes through `between`. */
  const twoIterations = (between: (place: string) => Promise<void>, signal: AbortSignal) =>
    run(
      [
        says(
          [
            thinking('Hm.'),
            text('Looking.'),
            ...calling(toolCall('a'), toolCall('b')),
            finished('tool_calls'),
          ],
          () => between('model'),
        ),
        says([text('Found'), text(' it.'), finished()], () => between('model')),
      ],
      {
        signal,
        async budgetLeft() {
          await between('budget')
          return true
        },
        async fitToWindow(messages) {
          await between('window')
          return messages
        },
        // As the executor does: once aborted, what is left is answered as stopped.
        async *runTools(calls) {
          for (const call of calls) {
            await between('tool')
            yield answerTo(call)
          }
        },
      },
    )

  const undisturbed = async (): Promise<{ places: string[]; events: string[] }> => {
    const places: string[] = []
    const note = async (place: string): Promise<void> => {
      places.push(place)
    }
    const { events } = await twoIterations(note, new AbortController().signal)
    return { places, events: inShort(events) }
  }

  test('at any await ends the run at once, as stopped, with what came before', async () => {
    const whole = await undisturbed()
    expect(whole.places.length).toBeGreaterThan(12)
    for (const [at, place] of whole.places.entries()) {
      const controller = new AbortController()
      let awaits = 0
      let afterAbort: string[] = []
      const { events, requests } = await twoIterations(async (here) => {
        await null
        if (awaits === at) controller.abort()
        else if (awaits > at) afterAbort = [...afterAbort, here]
        awaits += 1
      }, controller.signal)
      const what = `aborted in await ${at} (${place})`
      const told = inShort(events)
      expect(told.at(-1), what).toBe('stopped')
      expect(told.slice(0, -1), what).toEqual(whole.events.slice(0, told.length - 1))
      // Tools that were asked are heard to their end: their results are stored, and the listeners learn of them.
      expect(
        afterAbort.filter((here) => here !== 'tool'),
        `${what}: nothing new begins`,
      ).toEqual([])
      const isInModel = place === 'model'
      expect(requests.length, what).toBe(
        whole.places
          .slice(0, at + 1)
          .filter((here, index, all) => here === 'model' && all[index - 1] !== 'model').length,
      )
      expect(events.at(-1), what).toEqual({ type: 'stopped', usage: isInModel ? usage : undefined })
    }
  })

  test('by the consumer between two events ends the run without another request or another batch of tools', async () => {
    const whole = await undisturbed()
    for (let count = 1; count < whole.events.length; count += 1) {
      const controller = new AbortController()
      const seen: string[] = []
      const llm = scriptedClient(
        says([
          thinking('Hm.'),
          text('Looking.'),
          ...calling(toolCall('a'), toolCall('b')),
          finished('tool_calls'),
        ]),
        says([text('Found'), text(' it.'), finished()]),
      )
      let requestsThen = 0
      const { events } = await run([], { llm, signal: controller.signal }, (event, soFar) => {
        seen.push(event.type)
        if (soFar === count) {
          controller.abort()
          requestsThen = llm.requests.length
        }
        return undefined
      })
      const what = `aborted after event ${count} (${whole.events[count - 1]})`
      expect(llm.requests.length, what).toBe(requestsThen)
      expect(inShort(events).at(-1), what).toBe('stopped')
      expect(inShort(events).slice(0, count), what).toEqual(whole.events.slice(0, count))
    }
  })

  test('before the start calls no model', async () => {
    const { events, requests } = await run([], { signal: AbortSignal.abort() })
    expect(inShort(events)).toEqual(['stopped'])
    expect(requests).toEqual([])
  })

  test('yields every result that the tools still have, and ends after the last', async () => {
    const controller = new AbortController()
    const { events } = await run(
      [says([...calling(toolCall('a'), toolCall('b'), toolCall('c')), finished('tool_calls')])],
      {
        signal: controller.signal,
        async *runTools(calls) {
          for (const call of calls) {
            yield answerTo(call)
            controller.abort()
          }
        },
      },
    )
    expect(inShort(events)).toEqual([
      'iteration:a+b+c',
      'result:a',
      'result:b',
      'result:c',
      'stopped',
    ])
  })

  test('that makes the tools throw ends the run as stopped', async () => {
    const controller = new AbortController()
    const { events } = await run([says([...calling(toolCall('a')), finished('tool_calls')])], {
      signal: controller.signal,
      // biome-ignore lint/correctness/useYield: it fails before its first result
      async *runTools() {
        controller.abort()
        throw new Error('The run was ended')
      },
    })
    expect(inShort(events)).toEqual(['iteration:a', 'stopped'])
  })
})
