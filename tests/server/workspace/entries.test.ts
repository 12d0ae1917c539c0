// Files, folders and links of projects count towards the quota and have a limit of their own, however short they are.
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { Database } from '../../../server/db/database.ts'
import {
  compareSnapshot,
  createSnapshot,
} from '../../../server/workspace/checkpoints/capture/snapshot.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import { openProject, treeOf } from '../../support/store/projects.ts'

const Refusal = z.object({ error: z.string().optional(), message: z.string().optional() })
const MB = 1024 * 1024
const by = (tool: string) => ({ tool, messageId: null, runId: null })

describeOnEachServer('empty files and folders', (start) => {
  let server: TestServer
  let project: string
  const make = async (limits: object): Promise<void> => {
    server = await start({ limits })
    project = (await server.call('POST', '/api/projects', { body: { name: 'Empty' } })).json.data.id
  }
  const write = (path: string) =>
    server.call('PUT', `/api/projects/${project}/files/${path}`, { body: { content: '' } })
  const folder = (path: string) =>
    server.call('POST', `/api/projects/${project}/directories`, { body: { path } })
  const move = (from: string, to: string) =>
    server.call('PATCH', `/api/projects/${project}/files/${from}`, { body: { new_path: to } })
  const upload = async (names: readonly string[], into = `/api/projects/${project}/files`) => {
    const form = new FormData()
    if (into.endsWith('upload')) form.set('name', `upload of ${names.length}`)
    for (const name of names) form.append('files[]', new Blob(['']), name)
    const response = await fetch(server.url + into, { method: 'POST', body: form })
    return { status: response.status, json: Refusal.parse(await response.json()) }
  }
  const isFull = (error: string) => ({ status: 413, json: { error } })

  test('count towards the quota like files of 256 bytes, and free it again', async () => {
    await make({ storage: '2KB' })
    const used = async () =>
      (await server.call('GET', '/api/quota/storage')).json.data.used as number
    expect((await write('a/b/c.txt')).status).toBe(200)
    expect((await folder('d')).status).toBe(200)
    expect((await move('d', 'e/f')).status).toBe(200)
    expect(await used()).toBe(5 * 256)
    expect((await upload(['g/h.txt', 'i.txt'])).status).toBe(200)
    expect(await used()).toBe(8 * 256)
    for (const refused of [
      await write('j.txt'),
      await folder('j'),
      await move('i.txt', 'j/i.txt'),
      await upload(['j.txt']),
      await upload(['j.txt'], '/api/projects/upload'),
    ])
      expect(refused).toMatchObject(isFull('quota_exceeded'))
    expect((await write('i.txt')).status).toBe(200)
    await server.call('DELETE', `/api/projects/${project}/files/a`)
    expect(await used()).toBe(5 * 256)
    expect((await upload(['top/j.txt'], '/api/projects/upload')).status).toBe(200)
    // The top folder that all its files share is dropped.
    expect(await used()).toBe(6 * 256)
    await server.close()
  })

  test('have a limit for each project, which every way to create some keeps', async () => {
    await make({ project_files: 4 })
    expect((await write('a/b.txt')).status).toBe(200)
    expect((await folder('c')).status).toBe(200)
    const refusals = [
      await write('d/e.txt'),
      await folder('d/e'),
      await move('c', 'd/e/c'),
      await upload(['d.txt', 'e.txt']),
      await upload(['1/2/3/4.txt', '5.txt'], '/api/projects/upload'),
    ]
    for (const refused of refusals) {
      expect(refused).toMatchObject(isFull('project_full'))
      expect(refused.json.message).toMatch(/up to 4 files and folders/)
    }
    expect((await write('d.txt')).status).toBe(200)
    expect(await write('e.txt')).toMatchObject(isFull('project_full'))
    expect((await write('d.txt')).status).toBe(200)
    await server.call('DELETE', `/api/projects/${project}/files/d.txt`)
    expect((await folder('e')).status).toBe(200)
    await server.close()
  })
})

test('more entries than can be compared do not keep a project from being changed: those that are new are removed, and nothing else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nanoclaw-entries-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const input = { root: join(folder, 'root'), folder, contents: join(folder, 'contents') }
  const fill = async (from: number, to: number): Promise<void> => {
    for (let n = from; n < to; n += 1) {
      await mkdir(join(input.root, `${n}`), { recursive: true })
      await writeFile(join(input.root, `${n}`, 'a.txt'), '')
      // A name that cannot be stored.
      await writeFile(join(input.root, `${n}`, 'b\n'), '')
    }
  }
  await fill(0, 5)
  expect(createSnapshot(input).entries).toBe(15)
  const before = await treeOf(input.root)
  await fill(5, 50)
  const { entries, files } = compareSnapshot(input, 20)
  expect(entries).toBeGreaterThan(20)
  expect(files.every(({ change }) => change === 'added')).toBe(true)
  const after = await treeOf(input.root)
  expect(after).toMatchObject(before)
  expect(Object.keys(after).length).toBeLessThanOrEqual(Object.keys(before).length + 20)
})

describeOnEachDatabase('programs that create many files', (open) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })
  const limits = { fileRead: MB, fileWrite: MB, project: 100 * MB }

  test('have what they did undone beyond the limit, and what is counted is what a fresh measurement finds', async () => {
    const { checkpoints, workspace, userId, records, histories } = await openProject(database, {
      limits: { ...limits, entries: 20 },
      storage: MB,
    })
    const create = (from: number, count: number) =>
      checkpoints.changeAnything(workspace, by('exec'), async () => {
        await mkdir(join(workspace.root, `folder ${from}`))
        for (let n = from; n < from + count; n += 1)
          await writeFile(join(workspace.root, `folder ${from}`, `${n}.txt`), '')
      })
    await create(0, 10)
    const before = await treeOf(workspace.root)
    await expect(create(20, 10)).rejects.toMatchObject({
      code: 'project_full',
      message: expect.stringContaining('more than 20 files and folders'),
    })
    expect(await treeOf(workspace.root)).toEqual(before)
    const { countedSize, files, directories } = await workspace.stats()
    expect([files, directories, countedSize]).toEqual([10, 1, 11 * 256])
    expect(await histories.used(userId)).toBe(countedSize)
    const [last] = await records.list(workspace.projectId, { limit: 1 })
    await checkpoints.restore(workspace, last?.id, by('restore'))
    expect(await readdir(workspace.root)).toEqual([])
    expect(await histories.used(userId)).toBe(0)
  })
})
