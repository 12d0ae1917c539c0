// Results that the executor reuses: duplicates within a batch, the history of the run, the cache.
import { describe, expect, test } from 'vitest'
import type { ProjectId, UserId } from '../../../server/protocol/ids.ts'
import { fail, succeed } from '../../../server/tools/definition.ts'
import { createResultCache } from '../../../server/tools/result-cache.ts'
import { bench, call, context, countingTool, read } from './support.ts'

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

  test('a duplicate of a failed call runs', async () => {
    const { tool, runs } = countingTool({
      cacheable: true,
      work: async (_value, _context, run) => (run === 1 ? fail('busy') : succeed('now')),
    })
    const [first, second] = await bench([tool]).execute([call('a', 'echo'), call('b', 'echo')])
    expect(read(first).success).toBe(false)
    expect(read(second)).toMatchObject({ success: true, data: 'now' })
    expect(runs).toHaveLength(2)
  })

  test('the same call later in the run or in another run gets the known result', async () => {
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

  test('a cached result keeps its picture', async () => {
    const image = { mime: 'image/png', data: 'AAAA' }
    const file = { name: 'a.png', mime: 'image/png', size: 3, for_model: true }
    const artifact = { display: 'a.png', files: [{ ...file, data: 'data:image/png;base64,AAAA' }] }
    const { tool } = countingTool({
      cacheable: true,
      work: async () => ({ ...succeed('a picture', artifact), images: [image] }),
    })
    const { parts, execute } = bench([tool])
    await execute([call('a', 'echo')])
    const [elsewhere] = await bench([tool], { cache: parts.cache }).execute([call('b', 'echo')])
    expect(elsewhere).toMatchObject({ images: [image], ran: { reused: true } })
  })

  test('cached results are never used for another user or project', async () => {
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

  test('a change of the project invalidates its results in the cache and in the run', async () => {
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

  test('a result read while the project changed is not cached', async () => {
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

  test('a read repeated after a write in the same batch is not a duplicate', async () => {
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

  test('a cache of zero seconds stores nothing', async () => {
    const { tool, runs } = cacheable()
    const cache = createResultCache({ ttlSeconds: 0 })
    await bench([tool], { cache }).execute([call('a', 'echo')])
    await bench([tool], { cache }).execute([call('b', 'echo')])
    expect(runs).toHaveLength(2)
  })
})
