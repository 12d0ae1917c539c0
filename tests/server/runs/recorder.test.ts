// The recorder, on an in-memory store: what is stored before it is emitted, and what is stored in one transaction.
import { describe, expect, test } from 'vitest'
import { toolCall } from '../../support/provider/scripted-client.ts'
import { createRecorderBench, done, nothing, resultOf } from './recorder-bench.ts'

describe('the recorder', () => {
  test('emits text at once, and stores a step as ended before a step of the other kind begins', async () => {
    const { recorder, rows, trace } = createRecorderBench()
    expect(recorder.append('thinking', 'Hm.')).toBeUndefined()
    await recorder.append('text', 'Yes.')
    expect(trace).toEqual(['text 0', 'store thinking 0', 'end 0', 'text 1'])
    expect(rows.get(0)).toMatchObject({ content: 'Hm.', closed: true })
  })

  test('stores the open text, the calls and what belongs to them in one transaction, then emits them', async () => {
    const { recorder, log, rows, trace } = createRecorderBench()
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
    const emitted = [...log.entries].filter(({ kind }) => kind === 'event').map(({ id }) => id)
    expect([rows.get(1)?.firstEvent, rows.get(2)?.firstEvent]).toEqual(emitted)
  })

  test('stores results as they settle, emits them in the order of the calls, and stores their event ids with the next write', async () => {
    const { recorder, log, rows, trace } = createRecorderBench()
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

  test('emits no event of an iteration that could not be stored', async () => {
    const { recorder, rows, trace, fail } = createRecorderBench()
    await recorder.append('text', 'Let me look.')
    fail(new Error('the disk is full'))
    await expect(recorder.endIteration([toolCall('a')], nothing)).rejects.toThrow('full')
    expect(trace).toEqual(['text 0'])
    expect(rows.size).toBe(0)
  })

  test('marks a call as begun at its position, and ignores calls of other runs', async () => {
    const { recorder, trace } = createRecorderBench({
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
    await recorder.suspend(nothing)
  })

  test('refuses to begin a call that a grant lets through but that has no step, because it would be asked about for ever', async () => {
    const { recorder } = createRecorderBench()
    const granted = { grantId: 'grant', use: async () => true }
    await expect(recorder.begin(toolCall('stranger'), granted)).rejects.toThrow('no step')
  })

  test('hands the id of the last event to the write that ends the run, before that event is emitted', async () => {
    const { recorder, log, rows, trace } = createRecorderBench()
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

  test('leaves an open text unfinished and emits nothing more', async () => {
    const { recorder, rows, trace } = createRecorderBench()
    await recorder.append('text', 'To be conti')
    await recorder.suspend(async () => void trace.push('run'))
    expect(trace).toEqual(['text 0', 'store text 0 + run'])
    expect(rows.get(0)).toMatchObject({ content: 'To be conti', closed: false })
  })
})
