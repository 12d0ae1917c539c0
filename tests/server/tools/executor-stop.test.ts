// Timeouts, stopped runs and live output of tool calls.
import { describe, expect, test } from 'vitest'
import { fail, succeed, type ToolResult } from '../../../server/tools/definition.ts'
import { createToolExecutor } from '../../../server/tools/executor.ts'
import {
  bench,
  call,
  context,
  countingTool,
  gate,
  noApprovals,
  noRecorder,
  read,
} from './support.ts'

describe('time and stop', () => {
  const deaf = () =>
    countingTool({ timeoutMs: 30, work: () => new Promise<ToolResult>(() => undefined) })

  test('a handler that ignores its signal fails at its time limit', async () => {
    const [answer] = await bench([deaf().tool]).execute([call('a', 'echo')])
    expect(read(answer)).toMatchObject({ success: false })
    expect(read(answer).error).toContain('limit of 0.03 seconds')
  })

  test('a handler that reaches its time limit keeps its partial result', async () => {
    const { tool } = countingTool({
      timeoutMs: 30,
      work: (_value, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve(fail('aborted', { data: 'half of it' })))
        }),
    })
    const [answer] = await bench([tool]).execute([call('a', 'echo')])
    expect(read(answer)).toMatchObject({ success: false, data: 'half of it' })
    expect(read(answer).error).toContain('limit')
  })

  test('every call of a stopped run fails, whether it runs, waits for a worker or waits for approval', async () => {
    const stop = new AbortController()
    const started = gate()
    const running = countingTool({
      work: () => {
        started.open()
        return new Promise<ToolResult>(() => undefined)
      },
    })
    const risky = countingTool({ name: 'risky', riskLevel: 'high' })
    const settled: string[] = []
    const answering = bench([running.tool, risky.tool], { maxWorkers: 1 }).execute(
      [call('a', 'echo'), call('b', 'echo', { value: 'queued' }), call('c', 'risky')],
      {
        signal: stop.signal,
        approvals: {
          ...noApprovals,
          permissionFor: async ({ riskLevel }) => ({ kind: riskLevel === 'high' ? 'ask' : 'free' }),
          request: () => new Promise(() => undefined),
        },
        recorder: {
          ...noRecorder,
          settled: async (result) => void settled.push(result.call.id),
        },
      },
    )
    await started.opened
    stop.abort()
    const answers = await answering
    expect(answers.map((answer) => read(answer).error)).toEqual(
      Array(3).fill('The run was stopped before this call was done.'),
    )
    expect(settled.sort()).toEqual(['a', 'b', 'c'])
    expect(running.runs).toHaveLength(1)
    expect(risky.runs).toEqual([])
  })

  test('leaving the results early aborts the calls that still run', async () => {
    const aborted = gate()
    const { tool } = countingTool({
      work: async (value, { signal }) => {
        if (value === 'quick') return succeed(null)
        signal.addEventListener('abort', aborted.open)
        await aborted.opened
        return succeed(null)
      },
    })
    const { parts } = bench([tool])
    const answers = createToolExecutor(parts).execute(
      [call('a', 'echo', { value: 'quick' }), call('b', 'echo', { value: 'slow' })],
      {
        signal: new AbortController().signal,
        context,
        progress: () => {},
        approvals: noApprovals,
        recorder: noRecorder,
      },
    )
    for await (const answer of answers) {
      expect(answer.call.id).toBe('a')
      break
    }
    await aborted.opened
  })

  test('live output is reported with its call until the call ends', async () => {
    const seen: unknown[] = []
    let late: (() => void) | undefined
    const { tool } = countingTool({
      work: async (_value, { progress }) => {
        progress({ kind: 'state', state: 'running' })
        late = () => progress({ kind: 'text', text: 'too late' })
        return succeed(null)
      },
    })
    await bench([tool]).execute([call('a', 'echo')], {
      progress: (id, value) => seen.push([id, value]),
    })
    late?.()
    expect(seen).toEqual([['a', { kind: 'state', state: 'running' }]])
  })
})
