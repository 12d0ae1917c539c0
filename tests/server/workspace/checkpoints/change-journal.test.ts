// The change journal: a change that a crash interrupted is recovered and can be undone.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../../server/db/database.ts'
import { describeOnEachDatabase } from '../../../support/store/databases.ts'
import { openProject, treeOf } from '../../../support/store/projects.ts'
import { afterRestart, all, by, newest, write } from './changes.ts'

describeOnEachDatabase('an interrupted change', (open) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })

  test('is recovered before the next change and can be undone', async () => {
    const project = await openProject(database)
    const { workspace, checkpoints } = project
    await write(project, 'a', 'old')
    const before = await treeOf(workspace.root)
    // Simulates a crash while a program runs: its changes are on disk, but no checkpoint is stored for them.
    const dying = (work: () => Promise<unknown>) => {
      void checkpoints.changeAnything(workspace, by('exec'), async () => {
        await work()
        await new Promise(() => {})
      })
    }
    await new Promise<void>((resolve) =>
      dying(async () => {
        await writeFile(join(workspace.root, 'a'), 'new')
        await writeFile(join(workspace.root, 'b'), 'b')
        resolve()
      }),
    )
    expect(await all(project)).toHaveLength(1)
    // Simulates the next process, with the same folders and rows.
    const next = afterRestart(database, project)
    await next.recover(workspace)
    const row = await newest(project)
    expect(row.sample.map(({ path, change }) => [path, change])).toEqual([
      ['a', 'modified'],
      ['b', 'added'],
    ])
    await next.restore(workspace, row.id, by('restore'))
    expect(await treeOf(workspace.root)).toEqual(before)
  })

  test('with a journal made unreadable by a power cut neither blocks nor invents changes', async () => {
    const project = await openProject(database)
    const { workspace, checkpoints, workspaces, projectId } = project
    await write(project, 'a', 'old')
    const side = workspaces.serverFolder(projectId)
    await checkpoints.changeAnything(workspace, by('exec'), async () => {
      await writeFile(join(workspace.root, 'b'), 'b')
      // The index of the snapshot is lost before the changes are determined.
      await writeFile(join(side, 'index.json'), '')
    })
    expect((await all(project)).map(({ tool }) => tool)).toEqual(['file_write'])
    await writeFile(join(side, 'open-change.json'), '{"row":')
    await write(project, 'a', 'new')
    expect((await newest(project)).sample.map(({ path }) => path)).toEqual(['a'])
    await checkpoints.restore(workspace, (await newest(project)).id, by('restore'))
    expect((await workspace.read('a')).bytes.toString()).toBe('old')
    expect((await workspace.read('b')).bytes.toString()).toBe('b')
  })
})
