// Checkpoints: every change lists what it touched and can be undone, and so can the undo.

import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../../../server/db/database.ts'
import { newId } from '../../../../server/lib/ids.ts'
import type { MessageId } from '../../../../server/protocol/ids.ts'
import { describeOnEachDatabase, useDatabases } from '../../../support/store/databases.ts'
import { openProject, treeOf } from '../../../support/store/projects.ts'
import { all, by, newest, write } from './changes.ts'

describeOnEachDatabase('checkpoints', (open) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })

  test('a change by a tool is listed with its files and can be undone', async () => {
    const project = await openProject(database)
    const { workspace, checkpoints } = project
    const message = newId<MessageId>()
    await write(project, 'src/a.txt', 'one', by('file_write', message))
    const before = await treeOf(workspace.root)
    await write(project, 'src/a.txt', 'two', by('file_edit', message))
    const row = await newest(project)
    expect(row).toMatchObject({ tool: 'file_edit', messageId: message })
    expect(row.sample.map(({ path, change }) => [path, change])).toEqual([
      ['src/a.txt', 'modified'],
    ])

    const undone = await checkpoints.restore(workspace, row.id, by('restore'))
    expect(undone.restored).toBe(1)
    expect(await treeOf(workspace.root)).toEqual(before)

    const redone = await checkpoints.restore(workspace, undone.checkpoint.id, by('restore'))
    expect(redone.restored).toBe(1)
    expect((await workspace.read('src/a.txt')).bytes.toString()).toBe('two')
  })

  test('a folder whose move is stored file by file, as in older checkpoints, is restored and moved again with all contents', async () => {
    const project = await openProject(database)
    const { workspace, checkpoints, records } = project
    await mkdir(join(workspace.root, 'old/deep'), { recursive: true })
    for (let number = 0; number < 140; number++)
      await writeFile(join(workspace.root, `old/deep/${number}.txt`), `content ${number}`)
    const before = await treeOf(workspace.root)
    await checkpoints.change(workspace, by('editor_rename'), ['old', 'new/place'], () =>
      workspace.move('old', 'new/place'),
    )
    const after = await treeOf(workspace.root)
    const row = await newest(project)
    expect(row.fileCount).toBe(280)
    expect(row.sample).toHaveLength(20)
    const listed: string[] = []
    for (let from = 0; from < row.fileCount; from += 100)
      for (const { path } of await records.files(row, from, 100)) listed.push(path)
    expect(new Set(listed).size).toBe(280)
    expect(listed.every((path) => path.endsWith('.txt'))).toBe(true)
    // A moved file is still recognized after it was changed in its new place.
    await write(project, 'new/place/deep/7.txt', 'changed there')

    const undone = await checkpoints.restore(workspace, row.id, by('restore'))
    expect(undone.restored).toBe(280)
    expect(await treeOf(workspace.root)).toEqual(before)
    await checkpoints.restore(workspace, undone.checkpoint.id, by('restore'))
    expect(await treeOf(workspace.root)).toEqual({
      ...after,
      'new/place/deep/7.txt': 'changed there',
    })
  })

  test('a deleted folder with many files is restored', async () => {
    const project = await openProject(database)
    const { workspace, checkpoints } = project
    await mkdir(join(workspace.root, 'gone/empty'), { recursive: true })
    for (let number = 0; number < 100; number++)
      await writeFile(join(workspace.root, `gone/${number}`), `content ${number}`)
    await symlink('0', join(workspace.root, 'gone/link'))
    const before = await treeOf(workspace.root)
    await checkpoints.change(workspace, by('file_delete'), ['gone'], () => workspace.remove('gone'))
    expect(await treeOf(workspace.root)).toEqual({})
    await checkpoints.restore(workspace, (await newest(project)).id, by('restore'))
    expect(await treeOf(workspace.root)).toEqual(before)
  })

  test('changes of every kind can be undone to any point and redone', async () => {
    const project = await openProject(database)
    const { workspace, checkpoints } = project
    const states: { tree: Record<string, string>; id: string }[] = []
    const step = async (paths: string[], work: () => Promise<unknown>) => {
      const tree = await treeOf(workspace.root)
      await checkpoints.change(workspace, by('step'), paths, work)
      states.push({ tree, id: (await newest(project)).id })
    }
    await step(['a/b/c.txt'], () => workspace.write('a/b/c.txt', Buffer.from('1')))
    await step(['a/d.txt'], () => workspace.write('a/d.txt', Buffer.from('2')))
    await step(['a/b/c.txt'], () => workspace.write('a/b/c.txt', Buffer.from('1b')))
    await step(['empty/in'], () => workspace.createFolder('empty/in'))
    await step(['a', 'moved'], () => workspace.move('a', 'moved'))
    await step(['moved/d.txt'], () => workspace.remove('moved/d.txt'))
    await step(['empty'], () => workspace.remove('empty'))
    await step(['moved', 'moved/b'], async () => {
      await workspace.remove('moved')
      await workspace.write('moved', Buffer.from('a file now'))
    })
    const last = await treeOf(workspace.root)
    for (const { tree, id } of states.toReversed()) {
      const { checkpoint } = await checkpoints.restore(workspace, id, by('restore'))
      expect(await treeOf(workspace.root)).toEqual(tree)
      await checkpoints.restore(workspace, checkpoint.id, by('restore'))
      expect(await treeOf(workspace.root)).toEqual(last)
    }
    await checkpoints.restore(workspace, states[0]?.id ?? '', by('restore'))
    expect(await treeOf(workspace.root)).toEqual({})
  })

  test('every change that a program makes is detected and can be undone', async () => {
    const project = await openProject(database)
    const { workspace, checkpoints } = project
    await write(project, 'keep.txt', 'keep')
    await write(project, 'change.txt', 'before')
    await write(project, 'gone/x.txt', 'x')
    await write(project, 'run.sh', 'run')
    await chmod(join(workspace.root, 'run.sh'), 0o700)
    const before = await treeOf(workspace.root)
    await checkpoints.changeAnything(workspace, by('exec'), async () => {
      execFileSync(
        'sh',
        [
          '-c',
          'echo more >> change.txt; rm -r gone run.sh; mkdir -p new/deep; echo n > new/deep/n; ln -s /etc/passwd link',
        ],
        { cwd: workspace.root },
      )
    })
    const row = await newest(project)
    expect(Object.fromEntries(row.sample.map(({ path, change }) => [path, change]))).toEqual({
      'change.txt': 'modified',
      'gone/x.txt': 'deleted',
      link: 'added',
      'new/deep/n': 'added',
      'run.sh': 'deleted',
    })
    const after = await treeOf(workspace.root)
    const { checkpoint } = await checkpoints.restore(workspace, row.id, by('restore'))
    expect(await treeOf(workspace.root)).toEqual(before)
    await checkpoints.restore(workspace, checkpoint.id, by('restore'))
    expect(await treeOf(workspace.root)).toEqual(after)

    // The next snapshot only reads files that changed; a change within the same clock tick is detected too.
    await checkpoints.changeAnything(workspace, by('exec'), async () => {
      await writeFile(join(workspace.root, 'keep.txt'), 'KEEP')
    })
    expect((await newest(project)).sample.map(({ path }) => path)).toEqual(['keep.txt'])
  })

  test('a restore that changes nothing leaves a checkpoint, of which pages are told, and work that changes nothing tells nobody', async () => {
    const project = await openProject(database)
    const { workspace, checkpoints } = project
    const told: number[] = []
    checkpoints.onChange((_project, _actor, files) => told.push(files.length))
    await checkpoints.change(workspace, by('file_write'), ['a.txt'], async () => {})
    expect(told).toEqual([])
    await checkpoints.restore(workspace, undefined, by('restore'))
    expect(await all(project)).toHaveLength(1)
    expect(told).toEqual([0])
  })

  test('work that changes nothing leaves no checkpoint, and work that fails leaves one only if it changed something', async () => {
    const project = await openProject(database)
    const { workspace, checkpoints } = project
    await write(project, 'a', '1')
    await write(project, 'a', '1')
    expect(await all(project)).toHaveLength(1)
    await checkpoints.changeAnything(workspace, by('exec'), async () => {})
    expect(await all(project)).toHaveLength(1)
    const fault = checkpoints.change(workspace, by('tool'), ['a', 'b'], async () => {
      await workspace.write('a', Buffer.from('2'))
      throw new Error('half way')
    })
    await expect(fault).rejects.toThrow('half way')
    expect((await newest(project)).sample.map(({ path }) => path)).toEqual(['a'])
  })

  test('an unknown checkpoint and one of another project are not found', async () => {
    const project = await openProject(database)
    const other = await openProject(database)
    await write(other, 'a', '1')
    const foreign = await newest(other)
    for (const id of [newId<string>(), foreign.id])
      await expect(
        project.checkpoints.restore(project.workspace, id, by('restore')),
      ).rejects.toMatchObject({ code: 'not_found' })
    expect((await other.workspace.read('a')).bytes.toString()).toBe('1')
  })
})

describe('concurrent changes', () => {
  const { open } = useDatabases()

  test('of one project run one after another and each has its checkpoint', async () => {
    const project = await openProject(await open('sqlite'))
    const { workspace, checkpoints } = project
    await write(project, 'count', '0')
    await Promise.all(
      Array.from({ length: 20 }, () =>
        checkpoints.change(workspace, by('add'), ['count'], async () => {
          const count = Number((await workspace.read('count')).bytes.toString())
          await workspace.write('count', Buffer.from(String(count + 1)))
        }),
      ),
    )
    expect((await workspace.read('count')).bytes.toString()).toBe('20')
    expect(await all(project)).toHaveLength(21)
  })

  test('do not wait for a folder that became a link during a change', async () => {
    const project = await openProject(await open('sqlite'))
    const { workspace, checkpoints } = project
    await write(project, 'dir/a', '1')
    const outside = join(project.root, 'outside')
    await mkdir(outside)
    await writeFile(join(outside, 'a'), 'of the host')
    await checkpoints.change(workspace, by('tool'), ['dir/a'], async () => {
      await workspace.write('dir/a', Buffer.from('2'))
      await workspace.remove('dir')
      await symlink(outside, join(workspace.root, 'dir'))
    })
    expect((await newest(project)).sample).toEqual([{ path: 'dir/a', change: 'deleted' }])
    await write(project, 'b', 'goes on')
    expect((await newest(project)).sample).toEqual([{ path: 'b', change: 'added' }])
  })

  test('are never restored through a link that replaced a folder', async () => {
    const project = await openProject(await open('sqlite'))
    const { workspace, checkpoints } = project
    await write(project, 'dir/a', '1')
    await write(project, 'dir/a', '2')
    const row = await newest(project)
    const outside = join(project.root, 'outside')
    await mkdir(outside)
    await workspace.remove('dir')
    await symlink(outside, join(workspace.root, 'dir'))
    await expect(checkpoints.restore(workspace, row.id, by('restore'))).rejects.toMatchObject({
      code: 'path_escapes',
    })
    expect(await readdir(outside)).toEqual([])
  })
})
