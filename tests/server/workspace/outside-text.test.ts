// Taint of file names in a project: which names were created by changes that text from outside may have influenced.

import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../server/db/database.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import { openProject } from '../../support/store/projects.ts'

describeOnEachDatabase('names from outside', (open) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })

  test('belong to files and folders created by outside text, not to files that it only rewrote', async () => {
    const { checkpoints, workspace } = await openProject(database)
    const { outsideText } = checkpoints
    const origin = { tool: 'file_write', messageId: null, runId: null }
    const write = (path: string, outside: boolean, content = path) =>
      checkpoints.change(workspace, { ...origin, outside }, [path], () =>
        workspace.write(path, Buffer.from(content)),
      )
    await write('mine/own.md', false)
    await write('mine/own.md', true, 'new words')
    await write('mine/theirs.md', true)
    await write('Their folder/empty.md', true, '')
    const names = ['mine', 'own.md', 'theirs.md', 'Their folder', 'empty.md']
    expect([...(await outsideText.namesIn(workspace, names))].sort()).toEqual(
      ['Their folder', 'empty.md', 'theirs.md'].sort(),
    )
    expect(await outsideText.isInNames(workspace, ['mine/own.md'])).toBe(false)
    expect(await outsideText.isInNames(workspace, ['mine/own.md', 'x/theirs.md'])).toBe(true)
  })

  test('include every name while such a change is in progress', async () => {
    const { checkpoints, workspace } = await openProject(database)
    const seen = await checkpoints.change(
      workspace,
      { tool: 'exec', messageId: null, runId: null, outside: true },
      ['a'],
      () => checkpoints.outsideText.namesIn(workspace, ['anything']),
    )
    expect([...seen]).toEqual(['anything'])
    expect((await checkpoints.outsideText.namesIn(workspace, ['anything'])).size).toBe(0)
  })
})
