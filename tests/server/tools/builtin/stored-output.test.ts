// What Python programs write: stored among the files of the project, without replacing what others wrote.
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../../server/db/database.ts'
import { createOutputStore } from '../../../../server/tools/builtin/programs/stored-output.ts'
import { describeOnEachDatabase } from '../../../support/store/databases.ts'
import { openProject, treeOf } from '../../../support/store/projects.ts'
import { toolContext } from '../support.ts'

describeOnEachDatabase('the files of a Python program', (open) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })

  test('replace those that programs wrote, and stand beside those that somebody else wrote or changed', async () => {
    const project = await openProject(database)
    const { userId, projectId, workspace, checkpoints } = project
    const store = createOutputStore(project)
    const context = toolContext({ userId, projectId, runId: null as never })
    /** Stores files with these contents, and returns where they are. */
    const write = async (contents: Record<string, string>) => {
      const files = Object.entries(contents).map(([path, content]) => ({
        path,
        content: Buffer.from(content),
      }))
      const stored = await store(files, context, false)
      return 'paths' in stored ? Object.fromEntries(stored.paths) : stored
    }
    const edit = (path: string, content: string) =>
      checkpoints.change(workspace, { tool: 'editor', messageId: null, runId: null }, [path], () =>
        workspace.write(path, Buffer.from(content)),
      )
    await edit('output/sub/a.csv', 'of a person')
    expect(await write({ 'sub/a.csv': '1', 'b.csv': '1' })).toEqual({
      'sub/a.csv': 'output/sub/a (2).csv',
      'b.csv': 'output/b.csv',
    })
    expect(await write({ 'sub/a.csv': '2', 'b.csv': '2' })).toEqual({
      'sub/a.csv': 'output/sub/a (2).csv',
      'b.csv': 'output/b.csv',
    })
    await edit('output/b.csv', 'changed by a person')
    // A name that the program uses itself is not free.
    expect(await write({ 'b.csv': '3', 'b (2).csv': 'other' })).toEqual({
      'b.csv': 'output/b (3).csv',
      'b (2).csv': 'output/b (2).csv',
    })
    // The content that is there already needs no other name.
    expect(await write({ 'b.csv': 'changed by a person' })).toEqual({ 'b.csv': 'output/b.csv' })
    const both = await Promise.all([write({ 'c.csv': 'one' }), write({ 'c.csv': 'two' })])
    expect(both.map((stored) => Object.keys(stored))).toEqual([['c.csv'], ['c.csv']])

    const { 'output/c.csv': _, ...tree } = await treeOf(workspace.root)
    expect(tree).toEqual({
      'output/': '',
      'output/sub/': '',
      'output/sub/a.csv': 'of a person',
      'output/sub/a (2).csv': '2',
      'output/b.csv': 'changed by a person',
      'output/b (2).csv': 'other',
      'output/b (3).csv': '3',
    })
  })
})
