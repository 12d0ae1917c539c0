// The executor of a run: order, parallel calls, arguments, faults, recording that a call has begun.
import { describe, expect, test } from 'vitest'
import type { CallId } from '../../../server/protocol/ids.ts'
import { succeed, type ToolResult } from '../../../server/tools/definition.ts'
import { bench, call, context, countingTool, gate, noRecorder, read } from './support.ts'

describe('tool executor', () => {
  test('yields results in the order of the calls, whichever ends first', async () => {
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

  test('reports what is allowed for an unknown tool, broken JSON and wrong arguments', async () => {
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

  test('fails only the call whose arguments are extremely nested', async () => {
    const { tool } = countingTool({ cacheable: true })
    const deep = `{"value":"x","more":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    const [bad, good] = await bench([tool]).execute([
      call('a', 'echo', deep),
      call('b', 'echo', { value: 'y' }),
    ])
    expect(read(bad)).toMatchObject({ success: false })
    expect(read(good)).toMatchObject({ success: true })
  })

  test('treats a tool that the run may not use as unknown', async () => {
    const other = countingTool({ name: 'other' })
    const { tool } = countingTool()
    const [answer] = await bench([tool, other.tool], {
      allowedTools: new Set(['echo']),
    }).execute([call('a', 'other')])
    expect(read(answer)).toMatchObject({ success: false })
    expect(read(answer).error).not.toMatch(/: .*other/)
    expect(other.runs).toEqual([])
  })

  test('never takes its context from the model', async () => {
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

  test('reports an error of a handler without its cause, and logs the cause', async () => {
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

  test('reports an error while parsing arguments without its cause, and logs the cause', async () => {
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

  test('converts data that JSON cannot express, or reports a failure', async () => {
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

  test('passes on an artifact, and marks it when it holds outside text', async () => {
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

  test('a call that is not repeatable, or whose app may call tools from then on, is marked before it runs, and others are not', async () => {
    const log: string[] = []
    const note = (word: string) => async (): Promise<ToolResult> => {
      log.push(word)
      return succeed(null)
    }
    const safe = countingTool({ name: 'safe', work: note('safe ran') })
    const once = countingTool({ name: 'once', repeatable: false, work: note('once ran') })
    const shown = countingTool({ name: 'shown', work: note('shown ran') })
    const withApp = { ...shown.tool, app: { server: 'board', uri: 'ui://board', tool: 'shown' } }
    await bench([safe.tool, once.tool, withApp], { maxWorkers: 1 }).execute(
      [call('a', 'safe'), call('b', 'once'), call('c', 'shown')],
      {
        recorder: {
          async begin(begun) {
            log.push(`begin ${begun.id}`)
            return true
          },
          settled: async (result) => void log.push(`settled ${result.call.id} ${result.success}`),
        },
      },
    )
    expect(log.filter((line) => line.startsWith('begin'))).toEqual(['begin b', 'begin c'])
    expect(log.indexOf('begin b')).toBeLessThan(log.indexOf('once ran'))
    expect(log.indexOf('begin c')).toBeLessThan(log.indexOf('shown ran'))
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

  test('a call does not run when its mark cannot be stored, and the error is thrown', async () => {
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
