// Calls that require approval: what is requested, what runs after the decision, what runs meanwhile.
import { describe, expect, test } from 'vitest'
import { AppError } from '../../../server/errors.ts'
import type { Approvals, Decision } from '../../../server/tools/approval.ts'
import { succeed } from '../../../server/tools/definition.ts'
import { bench, call, countingTool, gate, noApprovals, read } from './support.ts'

describe('approval', () => {
  const asking = (decide: (id: string) => Promise<Decision>): Approvals => ({
    ...noApprovals,
    permissionFor: async ({ riskLevel }) => ({ kind: riskLevel !== 'low' ? 'ask' : 'free' }),
    request: ({ call: { id } }) => decide(id),
  })
  const risky = () => countingTool({ name: 'risky', riskLevel: 'medium' })

  test('a rejected call does not run, and its result says why', async () => {
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

  test('changed arguments are checked again, and the call runs with them', async () => {
    const { tool, runs } = risky()
    const { execute } = bench([tool])
    const [good] = await execute([call('a', 'risky', { value: 'mine' })], {
      approvals: asking(async () => ({ decision: 'approve', arguments: '{"value":"yours"}' })),
    })
    expect(read(good)).toMatchObject({
      data: { said: 'yours' },
      // The model is told what ran, and which of its arguments a person has changed.
      changed_by_user: ['value'],
      approved_arguments: { value: 'yours' },
    })
    const [same] = await execute([call('c', 'risky', { value: 'mine' })], {
      approvals: asking(async () => ({ decision: 'approve', arguments: '{"value":"mine"}' })),
    })
    expect(read(same).changed_by_user).toBeUndefined()
    const [bad] = await execute([call('b', 'risky')], {
      approvals: asking(async () => ({ decision: 'approve', arguments: '{"value":7}' })),
    })
    expect(read(bad).error).toContain('expected string')
    expect(runs).toEqual(['yours', 'mine'])
  })

  test('harmless calls of the batch run while others wait for approval', async () => {
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

  test('a low-risk call waits for a person if its address cannot be compared with the known ones', async () => {
    const { tool, runs } = countingTool()
    const long = `https://a.example/${'x'.repeat(9_000)}`
    const naming = {
      ...tool,
      parse: (text: string) => {
        const parsed = tool.parse(text)
        if (!parsed.ok) return parsed
        return { ok: true as const, input: { ...parsed.input, addresses: [long] } }
      },
    }
    const asked: unknown[] = []
    await bench([naming]).execute([call('a', 'echo')], {
      approvals: {
        ...asking(async () => ({ decision: 'reject' })),
        newAddresses: async (addresses) => {
          asked.push(...addresses)
          return addresses
        },
      },
    })
    expect([asked, runs]).toEqual([[long], []])
  })

  test('an approval request carries the risk level of the call and a preview', async () => {
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
        ...noApprovals,
        permissionFor: async ({ riskLevel }) => ({ kind: riskLevel === 'high' ? 'ask' : 'free' }),
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
