// Renamed folders: only the rename is stored, and every restore stays correct, whatever else changed in them.

import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../../server/db/database.ts'
import { diffCheckpoint } from '../../../../server/workspace/checkpoints/diff/checkpoint-diff.ts'
import { createDiffs } from '../../../../server/workspace/checkpoints/diff/diffs.ts'
import { describeOnEachDatabase } from '../../../support/store/databases.ts'
import { openProject, treeOf } from '../../../support/store/projects.ts'
import { afterRestart, by, move, newest, remove, restore, write } from './changes.ts'

describeOnEachDatabase('a renamed folder', (open) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })

  test('is stored as one rename without contents, and can be undone and redone', async () => {
    const project = await openProject(database)
    const { workspace, records } = project
    await mkdir(join(workspace.root, 'old/deep'), { recursive: true })
    for (let number = 0; number < 140; number++)
      await writeFile(join(workspace.root, `old/deep/${number}.txt`), `content ${number}`)
    const before = await treeOf(workspace.root)
    await move(project, 'old', 'new/place')
    const after = await treeOf(workspace.root)
    const row = await newest(project)
    expect(await records.files(row, 0, 100)).toMatchObject([
      { path: 'old', change: 'deleted', movedTo: 'new/place' },
      { path: 'new/place', change: 'added', movedFrom: 'old' },
    ])
    expect(row.fileCount).toBe(2)
    const contents = join(project.workspaces.serverFolder(project.projectId), 'contents')
    const kept = () => readdir(contents).catch(() => [])
    expect(await kept()).toEqual([])

    const { checkpoint } = await restore(project, row.id)
    expect(await treeOf(workspace.root)).toEqual(before)
    expect(await kept()).toEqual([])
    const again = await restore(project, checkpoint.id)
    expect(await treeOf(workspace.root)).toEqual(after)
    await restore(project, again.checkpoint.id)
    expect(await treeOf(workspace.root)).toEqual(before)
  })

  test('can be restored to every point of a history of edits, new files at the old path, deletions and more renames', async () => {
    const project = await openProject(database)
    const { workspace } = project
    const states: { tree: Record<string, string>; id: string }[] = []
    const step = async (work: () => Promise<unknown>) => {
      const tree = await now()
      await work()
      states.push({ tree, id: (await newest(project)).id })
    }
    const now = () => treeOf(workspace.root)
    await step(() => write(project, 'a/in/x', 'x1'))
    await step(() => write(project, 'a/y', 'y1'))
    await step(() => move(project, 'a', 'b'))
    await step(() => write(project, 'b/in/x', 'x2'))
    await step(() => write(project, 'a/y', 'another y'))
    await step(() => move(project, 'b/in', 'a/in'))
    await step(() => write(project, 'a/in/x', 'x3'))
    await step(() => move(project, 'a', 'c/d'))
    await step(() => remove(project, 'c/d/in'))
    await step(() => write(project, 'a', 'a file in the place of the folder'))
    await step(() => remove(project, 'b'))
    await step(() => move(project, 'c', 'b'))
    await step(() => remove(project, 'b'))
    const last = await now()
    const back: string[] = []
    for (const { tree, id } of states.toReversed()) {
      back.push((await restore(project, id)).checkpoint.id)
      expect(await now()).toEqual(tree)
    }
    await restore(project, back[0] ?? '')
    expect(await now()).toEqual(last)
    await restore(project, states[0]?.id ?? '')
    expect(await now()).toEqual({})
  })

  test('keeps changes by other programs, and a restore does not overwrite what they put at its old path', async () => {
    const project = await openProject(database)
    const { workspace } = project
    await write(project, 'old/a', 'a')
    await move(project, 'old', 'new')
    const { id } = await newest(project)
    await writeFile(join(workspace.root, 'new/foreign'), 'came by itself')
    await mkdir(join(workspace.root, 'old'))
    await writeFile(join(workspace.root, 'old/foreign'), 'in the way')
    const before = await treeOf(workspace.root)
    await expect(restore(project, id)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('“old”'),
    })
    expect(await treeOf(workspace.root)).toEqual(before)
    await rename(join(workspace.root, 'old'), join(workspace.root, 'aside'))
    await restore(project, id)
    expect(await treeOf(workspace.root)).toEqual({
      'old/': '',
      'old/a': 'a',
      'old/foreign': 'came by itself',
      'aside/': '',
      'aside/foreign': 'in the way',
    })
  })

  test('that another program has removed stays removed, and the rest is restored', async () => {
    const project = await openProject(database)
    const { workspace } = project
    await write(project, 'old/a', 'a')
    await write(project, 'kept', 'one')
    await move(project, 'old', 'new')
    const { id } = await newest(project)
    await write(project, 'kept', 'two')
    await rm(join(workspace.root, 'new'), { recursive: true })
    await restore(project, id)
    expect(await treeOf(workspace.root)).toEqual({ kept: 'one' })
  })

  test('whose restore was interrupted by a crash is stored with the part that was done', async () => {
    const project = await openProject(database)
    const { workspace, records } = project
    await write(project, 'a/x', '1')
    await move(project, 'a', 'b')
    await write(project, 'b/x', '2')
    const before = await treeOf(workspace.root)
    const first = (await records.list(project.projectId, { limit: 10 })).at(-1)
    // Simulates a crash in the middle of a restore: the folder has its old name again, and nothing more is stored.
    const dying = { ...workspace }
    const renamed = new Promise<void>((resolve) => {
      dying.move = async (from, to) => {
        await workspace.move(from, to)
        resolve()
        await new Promise(() => {})
      }
    })
    void project.checkpoints.restore(dying, first?.id, by('restore'))
    await renamed
    expect(await treeOf(workspace.root)).toEqual({ 'a/': '', 'a/x': '1' })
    const next = afterRestart(database, project)
    await next.recover(workspace)
    const row = await newest(project)
    expect(row.sample).toEqual([
      { path: 'b/x', change: 'modified' },
      { path: 'b', change: 'deleted' },
      { path: 'a', change: 'added' },
    ])
    await next.restore(workspace, row.id, by('restore'))
    expect(await treeOf(workspace.root)).toEqual(before)
  })

  test('that cannot be renamed stays unchanged and leaves no checkpoint', async () => {
    const project = await openProject(database)
    await write(project, 'a/x', '1')
    await write(project, 'b/x', '2')
    const { id } = await newest(project)
    for (const [from, to, code] of [
      ['a', 'b', 'conflict'],
      ['a', 'a/deeper', 'bad_request'],
      ['nothing', 'c', 'not_found'],
      ['a', '../c', 'path_escapes'],
    ] as const)
      await expect(move(project, from, to)).rejects.toMatchObject({ code })
    expect((await newest(project)).id).toBe(id)
    expect(await treeOf(project.workspace.root)).toEqual({
      'a/': '',
      'a/x': '1',
      'b/': '',
      'b/x': '2',
    })
  })

  test('appears as a rename in comparisons, with the edits before and after it', async () => {
    const project = await openProject(database)
    const { workspace, checkpoints, records, pool } = project
    const diff = (id: string, against: 'change' | 'now') =>
      diffCheckpoint(workspace, id, against, {
        records,
        checkpoints,
        pool,
        makeDiff: createDiffs(pool),
      })
    await write(project, 'old/a', 'one\n')
    await write(project, 'old/a', 'two\n')
    const edited = await newest(project)
    await move(project, 'old', 'new')
    const renamed = await newest(project)
    await write(project, 'new/b', 'b\n')
    expect(await diff(renamed.id, 'change')).toEqual({
      fileCount: 2,
      files: [
        { path: 'old', change: 'deleted', diff: 'rename from old\nrename to new\n' },
        { path: 'new', change: 'added', diff: 'rename from old\nrename to new\n' },
      ],
    })
    // The diff of the edit is found although its folder has been renamed since.
    const ofEdit = await diff(edited.id, 'change')
    expect(ofEdit.files).toMatchObject([{ path: 'old/a', change: 'modified' }])
    expect(ofEdit.files[0]?.diff).toContain('-one\n+two\n')
    const sinceEdit = await diff(edited.id, 'now')
    expect(sinceEdit.files.map(({ path, change }) => [path, change])).toEqual([
      ['old', 'deleted'],
      ['new', 'added'],
      ['new/b', 'added'],
      ['old/a', 'modified'],
    ])
    expect(sinceEdit.files.at(-1)?.diff).toContain('-one\n+two\n')
    // After renaming it back, only the edits remain as changes.
    await move(project, 'new', 'old')
    expect((await diff(renamed.id, 'now')).files.map(({ path }) => path)).toEqual(['old/b'])
  })
})
