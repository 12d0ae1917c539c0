// Results that are too long for the model: stored in full, read in parts by their handle.
import { describe, expect, test } from 'vitest'
import type { ConversationId } from '../../../server/protocol/ids.ts'
import { fail, succeed } from '../../../server/tools/definition.ts'
import type { CallResult } from '../../../server/tools/tool-result.ts'
import { bench, call, context, countingTool, read } from './support.ts'

describe('long results', () => {
  test('are stored completely, and the model gets the beginning and how to continue', async () => {
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

  test('get a new handle when another conversation takes them from the cache', async () => {
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

  test('of a failure keep the error visible', async () => {
    const { tool } = countingTool({
      work: async () => fail('exit code 1', { data: { stdout: 'y'.repeat(80_000) } }),
    })
    const [answer] = (await bench([tool]).execute([call('a', 'echo')])) as [CallResult]
    expect(read(answer)).toMatchObject({ success: false, error: 'exit code 1' })
    expect(answer.content.length).toBeLessThanOrEqual(50_000)
  })
})
