// The executor of a run: order, side by side, duplicates, history, cache, approval, time and stop.
import { describe, expect, test } from 'vitest'
import { AppError } from '../../../server/errors.ts'
import type { CallId, ConversationId, ProjectId, UserId } from '../../../server/protocol/ids.ts'
import type { Approvals, Decision } from '../../../server/tools/approval.ts'
import { fail, succeed, type ToolResult } from '../../../server/tools/definition.ts'
import { createToolExecutor } from '../../../server/tools/executor.ts'
import { createResultCache } from '../../../server/tools/result-cache.ts'
import type { CallResult } from '../../../server/tools/tool-result.ts'
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

describe('tool executor', () => {
  test('yields results in the order of the calls, whichever is done first', async () => {
    const slow = gate()
    const { tool } = countingTool({
      work: async (value) => {
        if (value === 'first') await slow.opened
        else slow.open()
        return succeed(value)
      },
    })
    const answers = await bench([tool]).execute([
      call('a', 'echo', { value: 'first' }),
      call('b', 'echo', { value: 'second' }),
    ])
    expect(answers.map((answer) => [answer.call.id, read(answer).data])).toEqual([
      ['a', 'first'],
      ['b', 'second'],
    ])
  })

  test('runs no more calls at once than it has workers', async () => {
    let running = 0
    let most = 0
    const { tool } = countingTool({
      work: async () => {
        running += 1
        most = Math.max(most, running)
        await new Promise((resolve) => setImmediate(resolve))
        running -= 1
        return succeed(null)
      },
    })
    const calls = Array.from({ length: 20 }, (_, index) =>
      call(`c${index}`, 'echo', { value: `${index}` }),
    )
    await bench([tool], { maxWorkers: 3 }).execute(calls)
    expect(most).toBe(3)
  })

  test('an unknown tool, broken JSON and wrong arguments are failures that say what is allowed', async () => {
    const { tool, runs } = countingTool()
    const [unknown, broken, wrong, list, forbidden] = await bench([tool], {
      allowedTools: new Set(['echo']),
    }).execute([
      call('a', 'ecco'),
      call('b', 'echo', '{"value":'),
      call('c', 'echo', { value: 5 }),
      call('d', 'echo', '[1]'),
      call('e', '__proto__'),
    ])
    expect(read(unknown).error).toContain('Did you mean: echo')
    expect(read(broken).error).toContain('Invalid JSON arguments')
    expect(read(wrong).error).toMatch(/value: .*expected string/)
    expect(read(list).error).toContain('one JSON object')
    expect(read(forbidden).success).toBe(false)
    expect(runs).toEqual([])
  })

  test('arguments nested beyond all reason are a fault of that call alone', async () => {
    const { tool } = countingTool({ cacheable: true })
    const deep = `{"value":"x","more":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    const [bad, good] = await bench([tool]).execute([
      call('a', 'echo', deep),
      call('b', 'echo', { value: 'y' }),
    ])
    expect(read(bad)).toMatchObject({ success: false })
    expect(read(good)).toMatchObject({ success: true })
  })

  test('a tool that this run may not use is unknown to it', async () => {
    const other = countingTool({ name: 'other' })
    const { tool } = countingTool()
    const [answer] = await bench([tool, other.tool], {
      allowedTools: new Set(['echo']),
    }).execute([call('a', 'other')])
    expect(read(answer)).toMatchObject({ success: false })
    expect(read(answer).error).not.toMatch(/: .*other/)
    expect(other.runs).toEqual([])
  })

  test('the model can neither see nor forge the context', async () => {
    const seen: string[] = []
    const { tool } = countingTool({
      work: async (_value, given) => {
        seen.push(given.userId)
        return succeed(null)
      },
    })
    await bench([tool]).execute([
      call('a', 'echo', { value: 'x', userId: 'mallory', project_id: 'other', context: {} }),
    ])
    expect(seen).toEqual([context.userId])
  })

  test('what a handler throws is a failure that reveals nothing of its cause; the cause goes to the log', async () => {
    const { tool } = countingTool({
      work: async () => {
        throw new Error('the disk is on fire')
      },
    })
    const faults: unknown[] = []
    const safety = {
      redact: (text: string) => text,
      onFault: (error: unknown) => faults.push(error),
    }
    const [answer] = await bench([tool], { safety }).execute([call('a', 'echo')])
    expect(read(answer)).toMatchObject({ success: false })
    expect(read(answer).error).toContain(`run ${context.runId}`)
    expect(answer?.content).not.toContain('fire')
    expect(faults).toEqual([new Error('the disk is on fire')])
  })

  test('what reading the arguments throws is a failure that reveals nothing of its cause; the cause goes to the log', async () => {
    const { tool } = countingTool({})
    const broken = {
      ...tool,
      parse: () => {
        throw new Error('the key is hunter2')
      },
    }
    const faults: unknown[] = []
    const safety = {
      redact: (text: string) => text,
      onFault: (error: unknown) => faults.push(error),
    }
    const [answer] = await bench([broken], { safety }).execute([call('a', 'echo')])
    expect(read(answer)).toMatchObject({ success: false })
    expect(answer?.content).not.toContain('hunter2')
    expect(faults).toEqual([new Error('the key is hunter2')])
  })

  test('data that JSON cannot express does no harm', async () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const data: Record<string, unknown> = { big: { n: 2n ** 70n }, circle, nothing: undefined }
    const { tool } = countingTool({ work: async (value) => succeed(data[value]) })
    const [big, circular, nothing] = await bench([tool]).execute(
      Object.keys(data).map((value) => call(value, 'echo', { value })),
    )
    expect(read(big).data).toEqual({ n: '1180591620717411303424' })
    expect(read(circular)).toMatchObject({ success: false })
    expect(read(nothing)).toMatchObject({ success: true, data: null })
  })

  test('an artifact passes through, and what was read outside is marked in it', async () => {
    const { tool } = countingTool({
      untrusted: true,
      work: async () => succeed('page', { display: 'one page' }),
    })
    const [answer] = await bench([tool]).execute([call('a', 'echo')])
    expect(answer).toMatchObject({
      untrusted: true,
      artifact: { display: 'one page', untrusted: true },
    })
  })
})

describe('duplicates, history and cache', () => {
  const cacheable = () => countingTool({ cacheable: true })

  test('a repeated call within the batch gets a result that names the first, whatever the key order', async () => {
    const { tool, runs } = cacheable()
    const [first, second] = await bench([tool]).execute([
      call('a', 'echo', '{"value":"x","more":{"a":1,"b":2}}'),
      call('b', 'echo', '{"more":{"b":2,"a":1},"value":"x"}'),
    ])
    expect(read(first)).toMatchObject({ success: true, data: { said: 'x' } })
    expect(read(second)).toMatchObject({
      success: true,
      data: null,
      cached: true,
      duplicate: true,
      duplicate_of: 'a',
    })
    expect(runs).toEqual(['x'])
  })

  test('a duplicate of a call that failed is run itself', async () => {
    const { tool, runs } = countingTool({
      cacheable: true,
      work: async (_value, _context, run) => (run === 1 ? fail('busy') : succeed('now')),
    })
    const [first, second] = await bench([tool]).execute([call('a', 'echo'), call('b', 'echo')])
    expect(read(first).success).toBe(false)
    expect(read(second)).toMatchObject({ success: true, data: 'now' })
    expect(runs).toHaveLength(2)
  })

  test('the same call later in the run, and in another run, gets the known result', async () => {
    const { tool, runs } = cacheable()
    const one = bench([tool])
    await one.execute([call('a', 'echo', { value: 'x' })])
    const [again] = await one.execute([call('b', 'echo', { value: 'x' })])
    expect(read(again)).toMatchObject({ success: true, data: { said: 'x' }, cached: true })
    const [elsewhere] = await bench([tool], { cache: one.parts.cache }).execute([
      call('c', 'echo', { value: 'x' }),
    ])
    expect(read(elsewhere)).toMatchObject({ data: { said: 'x' }, cached: true })
    expect(runs).toEqual(['x'])
  })

  test('another user and another project never get what was cached', async () => {
    const { tool, runs } = cacheable()
    const { execute, parts } = bench([tool])
    await execute([call('a', 'echo')])
    const others = [
      { ...context, userId: 'somebody' as UserId },
      { ...context, projectId: 'elsewhere' as ProjectId },
    ]
    for (const other of others)
      await bench([tool], { cache: parts.cache }).execute([call('b', 'echo')], { context: other })
    expect(runs).toHaveLength(3)
  })

  test('a tool that is not cacheable runs each time, also within one batch', async () => {
    const { tool, runs } = countingTool()
    const { execute } = bench([tool])
    await execute([call('a', 'echo'), call('b', 'echo')])
    await execute([call('c', 'echo')])
    expect(runs).toHaveLength(3)
  })

  test('failures are never reused', async () => {
    const { tool, runs } = countingTool({ cacheable: true, work: async () => fail('no') })
    const { execute } = bench([tool])
    await execute([call('a', 'echo')])
    const [answer] = await execute([call('b', 'echo')])
    expect(read(answer).cached).toBeUndefined()
    expect(runs).toHaveLength(2)
  })

  test('a change of the project drops what was known of it, in the cache and in the run', async () => {
    let content = 'old'
    const reader = countingTool({
      name: 'reader',
      cacheable: true,
      work: async () => succeed(content),
    })
    const writer = countingTool({
      name: 'writer',
      changesProject: true,
      work: async () => {
        content = 'new'
        return succeed(null)
      },
    })
    const { execute } = bench([reader.tool, writer.tool])
    await execute([call('a', 'reader')])
    await execute([call('b', 'writer')])
    const [answer] = await execute([call('c', 'reader')])
    expect(read(answer).data).toBe('new')
    expect(read(answer).cached).toBeUndefined()
  })

  test('what was read while the project changed is not kept', async () => {
    const { tool, runs } = countingTool({
      cacheable: true,
      work: async () => {
        cache.dropProject('project' as ProjectId)
        return succeed('read in the middle of a change')
      },
    })
    const cache = createResultCache({ ttlSeconds: 300 })
    const { execute } = bench([tool], { cache })
    await execute([call('a', 'echo')])
    await execute([call('b', 'echo')])
    expect(runs).toHaveLength(2)
  })

  test('a read repeated after a write in the same batch is no duplicate', async () => {
    const reader = countingTool({ name: 'reader', cacheable: true, orderKey: () => 'a.txt' })
    const writer = countingTool({
      name: 'writer',
      changesProject: true,
      orderKey: () => 'a.txt',
    })
    const answers = await bench([reader.tool, writer.tool]).execute([
      call('a', 'reader'),
      call('b', 'writer'),
      call('c', 'reader'),
    ])
    expect(read(answers[2]).duplicate).toBeUndefined()
    expect(reader.runs).toHaveLength(2)
  })

  test('a cache of zero seconds keeps nothing', async () => {
    const { tool, runs } = cacheable()
    const cache = createResultCache({ ttlSeconds: 0 })
    await bench([tool], { cache }).execute([call('a', 'echo')])
    await bench([tool], { cache }).execute([call('b', 'echo')])
    expect(runs).toHaveLength(2)
  })
})

describe('approval', () => {
  const asking = (decide: (id: string) => Promise<Decision>): Approvals => ({
    isNeeded: ({ riskLevel }) => riskLevel !== 'low',
    request: ({ call: { id } }) => decide(id),
  })
  const risky = () => countingTool({ name: 'risky', riskLevel: 'medium' })

  test('a rejected call is not run, and its result says why', async () => {
    const { tool, runs } = risky()
    const [answer] = await bench([tool]).execute([call('a', 'risky')], {
      approvals: asking(async () => ({ decision: 'reject', reason: 'not on a Friday' })),
    })
    expect(answer?.skipped).toBe(true)
    expect(read(answer)).toMatchObject({
      success: false,
      skipped: true,
      error: 'The user rejected this call: not on a Friday',
    })
    expect(runs).toEqual([])
  })

  test('no approval is requested for a call that cannot succeed, unless an earlier one of the batch makes it possible', async () => {
    let isMade = false
    const asked: string[] = []
    const make = countingTool({
      name: 'make',
      riskLevel: 'medium',
      changesProject: true,
      work: async () => {
        isMade = true
        return succeed(null)
      },
    })
    const change = risky()
    const changing = {
      ...change.tool,
      parse: (text: string) => {
        const parsed = change.tool.parse(text)
        if (!parsed.ok) return parsed
        const preview = async () => {
          if (!isMade) throw new AppError('not_found', 'There is nothing to change.')
          return { display: 'would change' }
        }
        return { ok: true as const, input: { ...parsed.input, preview } }
      },
    }
    const approvals = asking(async (id) => {
      asked.push(id)
      return { decision: 'approve' }
    })
    const one = bench([make.tool, changing])
    const [impossible] = await one.execute([call('a', 'risky')], { approvals })
    expect(read(impossible)).toMatchObject({ success: false, error: 'There is nothing to change.' })
    expect([asked, change.runs]).toEqual([[], []])
    const [, possible] = await one.execute([call('b', 'make'), call('c', 'risky')], { approvals })
    expect(read(possible).success).toBe(true)
    expect(asked).toEqual(['b', 'c'])
  })

  test('changed arguments are checked again and are what runs', async () => {
    const { tool, runs } = risky()
    const { execute } = bench([tool])
    const [good] = await execute([call('a', 'risky', { value: 'mine' })], {
      approvals: asking(async () => ({ decision: 'approve', arguments: '{"value":"yours"}' })),
    })
    expect(read(good)).toMatchObject({
      data: { said: 'yours' },
      approved_arguments: { value: 'yours' },
    })
    const [bad] = await execute([call('b', 'risky')], {
      approvals: asking(async () => ({ decision: 'approve', arguments: '{"value":7}' })),
    })
    expect(read(bad).error).toContain('expected string')
    expect(runs).toEqual(['yours'])
  })

  test('harmless calls of the batch run while others wait for a person', async () => {
    const harmlessDone = gate()
    const { tool } = risky()
    const low = countingTool({
      work: async () => {
        harmlessDone.open()
        return succeed(null)
      },
    })
    const answers = await bench([tool, low.tool], { maxWorkers: 1 }).execute(
      [call('a', 'risky'), call('b', 'echo')],
      {
        approvals: asking(async () => {
          await harmlessDone.opened
          return { decision: 'approve' }
        }),
      },
    )
    expect(answers.map((answer) => answer.success)).toEqual([true, true])
  })

  test('an approval request carries the level of this very call and a preview', async () => {
    const { tool } = risky()
    const previewing = {
      ...tool,
      parse: (text: string) => {
        const parsed = tool.parse(text)
        if (!parsed.ok) return parsed
        const preview = async () => ({ display: 'would write' })
        return {
          ok: true as const,
          input: { ...parsed.input, riskLevel: 'high' as const, preview },
        }
      },
    }
    const requests: unknown[] = []
    await bench([previewing]).execute([call('a', 'risky')], {
      approvals: {
        isNeeded: ({ riskLevel }) => riskLevel === 'high',
        request: async (request) => {
          requests.push(request)
          return { decision: 'approve' }
        },
      },
    })
    expect(requests).toMatchObject([
      { call: { id: 'a' }, riskLevel: 'high', preview: { display: 'would write' } },
    ])
  })
})

describe('order, marks and interruption', () => {
  test('calls with the same order key run one after another in the order of the calls', async () => {
    const log: string[] = []
    const { tool } = countingTool({
      orderKey: () => 'same file',
      work: async (value) => {
        log.push(`${value} begins`)
        await new Promise((resolve) => setImmediate(resolve))
        log.push(`${value} ends`)
        return succeed(null)
      },
    })
    await bench([tool]).execute(['1', '2', '3'].map((value) => call(value, 'echo', { value })))
    expect(log).toEqual(['1', '2', '3'].flatMap((value) => [`${value} begins`, `${value} ends`]))
  })

  test('a call that is not repeatable is marked before it runs, others are not', async () => {
    const log: string[] = []
    const note = (word: string) => async (): Promise<ToolResult> => {
      log.push(word)
      return succeed(null)
    }
    const safe = countingTool({ name: 'safe', work: note('safe ran') })
    const once = countingTool({ name: 'once', repeatable: false, work: note('once ran') })
    await bench([safe.tool, once.tool], { maxWorkers: 1 }).execute(
      [call('a', 'safe'), call('b', 'once')],
      {
        recorder: {
          begin: async (begun) => void log.push(`begin ${begun.id}`),
          settled: async (result) => void log.push(`settled ${result.call.id} ${result.success}`),
        },
      },
    )
    expect(log.filter((line) => line.startsWith('begin'))).toEqual(['begin b'])
    expect(log.indexOf('begin b')).toBeLessThan(log.indexOf('once ran'))
    expect(log.indexOf('once ran')).toBeLessThan(log.indexOf('settled b true'))
  })

  test('a call that was interrupted gets a result without running', async () => {
    const { tool, runs } = countingTool()
    const [answer] = await bench([tool]).execute([call('a', 'echo')], {
      interrupted: new Set(['a' as CallId]),
    })
    expect(read(answer).error).toContain('may or may not have taken effect')
    expect(runs).toEqual([])
  })

  test('when the durable mark cannot be written, the call does not run and the fault is thrown', async () => {
    const { tool, runs } = countingTool({ repeatable: false })
    const recorder = {
      ...noRecorder,
      begin: async () => {
        throw new Error('store is full')
      },
    }
    await expect(bench([tool]).execute([call('a', 'echo')], { recorder })).rejects.toThrow(
      'store is full',
    )
    expect(runs).toEqual([])
  })
})

describe('time and stop', () => {
  const deaf = () =>
    countingTool({ timeoutMs: 30, work: () => new Promise<ToolResult>(() => undefined) })

  test('a handler that ignores its signal fails when its time is up', async () => {
    const [answer] = await bench([deaf().tool]).execute([call('a', 'echo')])
    expect(read(answer)).toMatchObject({ success: false })
    expect(read(answer).error).toContain('limit of 0.03 seconds')
  })

  test('what a handler has so far when its time is up is kept', async () => {
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

  test('a stopped run gives every call a failed result: running, waiting for a worker and waiting for a person', async () => {
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
          isNeeded: ({ riskLevel }) => riskLevel === 'high',
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

  test('leaving the results early ends what still runs', async () => {
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

  test('live output arrives with its call, and not after the call is over', async () => {
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

describe('long results', () => {
  test('are kept whole; the model gets the beginning and how to go on', async () => {
    const text = '😀 "quoted"\n'.repeat(10_000)
    const { tool } = countingTool({ cacheable: true, work: async () => succeed(text) })
    const { execute, parts } = bench([tool])
    const [answer] = await execute([call('a', 'echo')])
    expect(answer?.content.length).toBeLessThanOrEqual(50_000)
    const data = read(answer).data as { handle: string; content: string; next_offset: number }
    expect(text.startsWith(data.content)).toBe(true)
    expect(data.next_offset).toBe(data.content.length)
    expect(await parts.results.read(context, data.handle)).toBe(text)
  })

  test('what another conversation gets from the cache has a handle of its own', async () => {
    const { tool } = countingTool({
      cacheable: true,
      work: async () => succeed('x'.repeat(60_000)),
    })
    const { execute, parts } = bench([tool])
    await execute([call('a', 'echo')])
    const other = { ...context, conversationId: 'other' as ConversationId }
    const { cache, results } = parts
    const [answer] = await bench([tool], { cache, results }).execute([call('b', 'echo')], {
      context: other,
    })
    const { handle } = read(answer).data as { handle: string }
    expect(await results.read(other, handle)).toHaveLength(60_000)
    expect(await results.read(context, handle)).toBeUndefined()
  })

  test('a failure with long data keeps its error in sight', async () => {
    const { tool } = countingTool({
      work: async () => fail('exit code 1', { data: { stdout: 'y'.repeat(80_000) } }),
    })
    const [answer] = (await bench([tool]).execute([call('a', 'echo')])) as [CallResult]
    expect(read(answer)).toMatchObject({ success: false, error: 'exit code 1' })
    expect(answer.content.length).toBeLessThanOrEqual(50_000)
  })
})
