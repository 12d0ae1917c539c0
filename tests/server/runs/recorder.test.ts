// The recorder, on a store in memory: what is stored before what is emitted, and what is stored together.
import { describe, expect, test } from 'vitest'
import { runAgentLoop } from '../../../server/agent/loop.ts'
import type { Writer } from '../../../server/db/database.ts'
import type { NewStep, ProseRow } from '../../../server/db/repositories/steps.ts'
import type { LlmEvent, ToolCall } from '../../../server/llm/client.ts'
import { MessageId } from '../../../server/protocol/ids.ts'
import type { DoneEvent } from '../../../server/protocol/run-event.ts'
import type { Write, WriteGroup } from '../../../server/runs/group-commit.ts'
import { createRunLog, type LogEntry, type RunLog } from '../../../server/runs/log/log.ts'
import { createRecorder, type Recorder } from '../../../server/runs/recorder.ts'
import type { CallResult } from '../../../server/tools/tool-result.ts'
import { rounds } from '../../support/random.ts'
import {
  calling,
  finished,
  says,
  scriptedClient,
  text,
  thinking,
  toolCall,
} from '../../support/scripted-client.ts'

type Row = { type: string; content: string; closed: boolean; firstEvent: number | null }
type Change = (rows: Map<number, Row>) => void

const nothing: Write = async () => {}

interface Bench {
  recorder: Recorder
  log: RunLog
  /** The committed steps by position. */
  rows: Map<number, Row>
  /** Commits and events in the order in which they happened. */
  trace: string[]
  /** What the next transaction fails with. */
  fail(error: Error): void
}

const inShort = (entry: LogEntry): string => {
  if (entry.kind === 'delta') return `text ${entry.index}`
  if (entry.kind === 'whole') return `end ${entry.index}`
  if (entry.kind === 'void') return 'void'
  const { event } = entry
  return event.event === 'process_step' ? `${event.step.type} ${event.step.index}` : event.event
}

function bench(
  more: { nextIndex?: number; openCalls?: Map<string, { call: number; result: number }> } = {},
  onEmit: (entry: LogEntry) => void = () => {},
): Bench {
  const rows = new Map<number, Row>()
  const trace: string[] = []
  const faults: Error[] = []
  let open: Change[] = []
  const add = (name: string, change: Change): Promise<void> => {
    open.push(change)
    trace.push(name)
    return Promise.resolve()
  }
  const set =
    ({ position, type, content, closed, firstEvent }: NewStep | ProseRow): Change =>
    (all) =>
      all.set(position, {
        type,
        content: content ?? '',
        closed: closed ?? false,
        firstEvent: firstEvent ?? null,
      })
  const writes: WriteGroup = {
    async commit(write) {
      open = []
      const before = trace.length
      // No write of these tests looks into its transaction.
      await write({} as Writer)
      const names = trace.splice(before)
      const fault = faults.shift()
      if (fault !== undefined) throw fault
      for (const change of open) change(rows)
      trace.push(`store ${names.join(' + ')}`)
    },
  }
  const log = createRunLog({ entries: [], steps: [], lastId: 0 })
  let seen = 0
  log.subscribe({
    onEntries() {
      for (const entry of log.entries.slice(seen)) {
        trace.push(inShort(entry))
        onEmit(entry)
      }
      seen = log.entries.length
    },
    onClose() {},
  })
  const recorder = createRecorder({
    runLog: log,
    run: { messageId: MessageId.parse('message') },
    nextIndex: more.nextIndex ?? 0,
    openCalls: more.openCalls ?? new Map(),
    stepRepository: {
      putProse: (_tx, step) => add(`${step.type} ${step.position}`, set(step)),
      put: (_tx, step) => add(`${step.type} ${step.position}`, set(step)),
      markStarted: (_tx, _message, position) => add(`begin ${position}`, () => {}),
      setFirstEvent: (_tx, _message, position, firstEvent) =>
        add(`id ${position}`, (all) => {
          const row = all.get(position)
          if (row !== undefined) row.firstEvent = firstEvent
        }),
    },
    writes,
    onLateStore(error) {
      throw error
    },
    now: () => new Date(),
  })
  return { recorder, log, rows, trace, fail: (error) => faults.push(error) }
}

const resultOf = (call: ToolCall): CallResult => ({
  call,
  content: `{"success":true,"data":"${call.id}"}`,
  skipped: false,
  success: true,
  untrusted: false,
})

const done: DoneEvent = {
  event: 'done',
  message_id: MessageId.parse('message'),
  token_count: 3,
  suggested_title: null,
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  finish_reason: 'stop',
}

describe('the recorder', () => {
  test('emits text at once, and stores a step as ended before a step of the other kind begins', async () => {
    const { recorder, rows, trace } = bench()
    expect(recorder.append('thinking', 'Hm.')).toBeUndefined()
    await recorder.append('text', 'Yes.')
    expect(trace).toEqual(['text 0', 'store thinking 0', 'end 0', 'text 1'])
    expect(rows.get(0)).toMatchObject({ content: 'Hm.', closed: true })
  })

  test('stores the open text, the calls and what belongs to them in one transaction, then emits them', async () => {
    const { recorder, log, rows, trace } = bench()
    await recorder.append('text', 'Let me look.')
    const calls = [toolCall('a'), toolCall('b')]
    await recorder.endIteration(calls, async () => void trace.push('usage'))
    expect(trace).toEqual([
      'text 0',
      'store text 0 + tool_call 1 + tool_call 2 + usage',
      'end 0',
      'tool_call 1',
      'tool_call 2',
    ])
    const emitted = log.entries.filter(({ kind }) => kind === 'event').map(({ id }) => id)
    expect([rows.get(1)?.firstEvent, rows.get(2)?.firstEvent]).toEqual(emitted)
  })

  test('stores results as they settle, emits them in the order asked for, and stores their event ids with the next write', async () => {
    const { recorder, log, rows, trace } = bench()
    const [first, second] = [toolCall('a'), toolCall('b')]
    await recorder.endIteration([first, second], nothing)
    trace.length = 0
    await recorder.storeResult(resultOf(second), nothing)
    await recorder.storeResult(resultOf(first), async () => void trace.push('taint'))
    recorder.emitResult(resultOf(first))
    recorder.emitResult(resultOf(second))
    await recorder.end(async () => {}, [done])
    expect(trace).toEqual([
      'store tool_result 3',
      'store tool_result 2 + taint',
      'tool_result 2',
      'tool_result 3',
      'store id 2 + id 3',
      'done',
    ])
    expect([rows.get(2)?.firstEvent, rows.get(3)?.firstEvent]).toEqual([
      log.lastId - 2,
      log.lastId - 1,
    ])
  })

  test('emits nothing of an iteration that the store refused', async () => {
    const { recorder, rows, trace, fail } = bench()
    await recorder.append('text', 'Let me look.')
    fail(new Error('the disk is full'))
    await expect(recorder.endIteration([toolCall('a')], nothing)).rejects.toThrow('full')
    expect(trace).toEqual(['text 0'])
    expect(rows.size).toBe(0)
  })

  test('marks a call as begun at its place, and knows nothing of calls that are not the run’s', async () => {
    const { recorder, trace } = bench({
      nextIndex: 6,
      openCalls: new Map([['old', { call: 2, result: 4 }]]),
    })
    await recorder.begin(toolCall('old'))
    await recorder.storeResult(resultOf(toolCall('old')), nothing)
    recorder.emitResult(resultOf(toolCall('old')))
    await recorder.begin(toolCall('stranger'))
    await recorder.storeResult(resultOf(toolCall('stranger')), nothing)
    recorder.emitResult(resultOf(toolCall('stranger')))
    await recorder.append('text', 'Found it.')
    expect(trace).toEqual(['store begin 2', 'store tool_result 4', 'tool_result 4', 'text 6'])
    await recorder.leave(nothing)
  })

  test('hands the id of the last event to the write that ends the run, before that event is emitted', async () => {
    const { recorder, log, rows, trace } = bench()
    await recorder.append('text', 'Fine.')
    let lastEvent = 0
    const title = { event: 'title' as const, title: 'T' }
    await recorder.end(
      async (_tx, last) => {
        lastEvent = last
        trace.push('run')
      },
      [title, done],
    )
    expect(trace).toEqual(['text 0', 'store text 0 + run', 'end 0', 'title', 'done'])
    expect(lastEvent).toBe(log.lastId)
    expect(rows.get(0)).toMatchObject({ content: 'Fine.', closed: true })
    expect(log.terminal).toEqual(done)
  })

  test('leaves an open text as open, and emits nothing more', async () => {
    const { recorder, rows, trace } = bench()
    await recorder.append('text', 'To be conti')
    await recorder.leave(async () => void trace.push('run'))
    expect(trace).toEqual(['text 0', 'store text 0 + run'])
    expect(rows.get(0)).toMatchObject({ content: 'To be conti', closed: false })
  })
})

describe('a loop that is recorded', () => {
  for (const { random, what } of rounds(30))
    test(`never emits a completed step that is not stored (${what})`, async () => {
      let calls = 0
      const script = (last: boolean): LlmEvent[] => [
        ...Array.from({ length: random.below(5) }, (_, at) =>
          random.pick([thinking, text])(`piece ${at} `),
        ),
        ...(last
          ? [text('The end.'), finished()]
          : [
              ...calling(
                ...Array.from({ length: 1 + random.below(3) }, () => toolCall(`call-${calls++}`)),
              ),
              finished('tool_calls'),
            ]),
      ]
      const iterations = random.below(4)
      const scripts = Array.from({ length: iterations + 1 }, (_, at) =>
        says(script(at === iterations)),
      )
      const { recorder, log, rows } = bench({}, (entry) => {
        const index =
          entry.kind === 'whole'
            ? entry.index
            : entry.kind === 'event' && entry.event.event === 'process_step'
              ? entry.event.step.index
              : null
        if (index === null) return
        const step = log.step(index)
        expect(rows.get(index)).toMatchObject({
          closed: true,
          content: step?.type === 'tool_call' ? step.arguments : step?.content,
        })
      })
      const loop = runAgentLoop({
        llm: scriptedClient(...scripts),
        messages: [{ role: 'user', content: 'Go' }],
        tools: [],
        request: {},
        maxIterations: 10,
        pendingCalls: [],
        budgetLeft: async () => true,
        fitToWindow: async (messages) => messages,
        signal: new AbortController().signal,
        async *runTools(batch) {
          // Stored in another order than emitted.
          for (const call of [...batch].reverse())
            await recorder.storeResult(resultOf(call), nothing)
          for (const call of batch) yield resultOf(call)
        },
      })
      for await (const event of loop) {
        if (event.type === 'prose') await recorder.append(event.kind, event.text)
        if (event.type === 'result') recorder.emitResult(event.result)
        if (event.type !== 'iteration') continue
        if (event.finish === null) await recorder.endIteration(event.calls, nothing)
        else await recorder.end(async () => {}, [done])
      }
      expect(log.terminal).toEqual(done)
      expect([...rows.keys()].sort((a, b) => a - b)).toEqual(
        Array.from({ length: log.stepCount }, (_, at) => at),
      )
      for (const [index, row] of rows)
        expect(row.firstEvent, `step ${index} has its event`).toBeGreaterThan(0)
    })
})
