// Pruning: checkpoints that are too old or too many are removed with their contents.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { prunable } from '../../../../server/workspace/checkpoints/prune.ts'
import { useDatabases } from '../../../support/store/databases.ts'
import { openProject } from '../../../support/store/projects.ts'
import { all, write } from './changes.ts'

const { open } = useDatabases()

test('checkpoints and their contents stay within the limits of the rule', async () => {
  const project = await openProject(await open('sqlite'), {
    rule: { keep: 5, maxAgeDays: 30, maxBytes: 1e9 },
  })
  const { workspace } = project
  for (let turn = 0; turn < 40; turn++) await write(project, 'a', `content ${turn}`)
  await project.mutex.run(project.projectId, async () => {})
  expect((await all(project)).length).toBeLessThanOrEqual(5)
  const contents = join(project.workspaces.serverFolder(project.projectId), 'contents')
  expect(
    (await readdir(contents, { recursive: true })).filter((name) => name.length > 10).length,
  ).toBeLessThanOrEqual(5)
  expect((await workspace.read('a')).bytes.toString()).toBe('content 39')
})

test('pruning keeps the newest checkpoint and removes those that are too old or too many', () => {
  const now = new Date('2026-01-31T00:00:00Z')
  const rows = [60, 1, 10, 40].map((days) => ({
    id: `d${days}`,
    createdAt: new Date(now.getTime() - days * 86_400_000),
  }))
  expect(prunable(rows, { keep: 2, maxAgeDays: 30, maxBytes: 1 }, now)).toEqual(['d10', 'd40'])
})
