// Counting changed lines for receipts: in time, and never a number that was not counted.
import { expect, test } from 'vitest'
import { countLines, type MakeDiff } from '../../../../server/workspace/checkpoints/diff/diffs.ts'
import { unifiedDiff } from '../../../../server/workspace/checkpoints/diff/unified-diff.ts'

/** The content of a file is its hash. */
const contents = { read: async (hash: string) => Buffer.from(hash) }
const workspace = {
  read: async () => {
    throw new Error('nothing is read from the project')
  },
}
const makeDiff: MakeDiff = async (path, before, after) => unifiedDiff(path, before, after, 1_000)
const UNKNOWN = { added: null, removed: null }

test('lines are counted, also where a file is new and empty', async () => {
  const files = [
    { path: 'a', before: 'one\n', after: 'one\ntwo\n' },
    { path: 'b', before: null, after: '' },
  ]
  expect(await countLines(files, { contents, workspace, makeDiff })).toEqual([
    { added: 1, removed: 0 },
    { added: 0, removed: 0 },
  ])
})

test('texts that differ but could not be compared have no count', async () => {
  const failing: MakeDiff = async () => ({ diff: 'Too large to compare.', added: 0, removed: 0 })
  const files = [
    { path: 'a', before: 'one', after: 'two' },
    { path: 'b', before: 'one', after: 'one' },
  ]
  expect(await countLines(files, { contents, workspace, makeDiff: failing })).toEqual([
    UNKNOWN,
    { added: 0, removed: 0 },
  ])
})

test('files that cannot be counted in time have no count, and those before them have theirs', async () => {
  let compared = 0
  let finish = (): void => {}
  const stuck = new Promise<void>((resolve) => {
    finish = resolve
  })
  const slow: MakeDiff = async (...file) => {
    compared += 1
    if (compared === 2) await stuck
    return makeDiff(...file)
  }
  const files = ['a', 'b', 'c'].map((path) => ({ path, before: 'one\n', after: 'two\n' }))
  const counts = await countLines(files, { contents, workspace, makeDiff: slow, budgetMs: 50 })
  expect(counts).toEqual([{ added: 1, removed: 1 }, UNKNOWN, UNKNOWN])
  finish()
  await stuck
  expect(compared).toBe(2)
})
