// A deleted project stays deleted, even if work in it is still in progress.

import { access } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../server/db/database.ts'
import { createDocumentRepository } from '../../../server/db/repositories/projects/documents.ts'
import { createProjectRepository } from '../../../server/db/repositories/projects/projects.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import { openProject } from '../../support/store/projects.ts'

const by = (tool: string) => ({ tool, messageId: null, runId: null })
const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

describeOnEachDatabase('a project that is deleted', (open) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })

  test('ends its work, refuses waiting changes, and neither its folder nor its rows reappear', async () => {
    const project = await openProject(database)
    const { checkpoints, workspace, workspaces, projectId, userId, records } = project
    const projects = createProjectRepository(database)
    await workspace.write('a.txt', Buffer.from('one'))
    let start = () => {}
    const started = new Promise<void>((resolve) => {
      start = resolve
    })
    const program = checkpoints.changeAnything(workspace, by('exec'), ({ signal }) => {
      start()
      return new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    })
    const waiting = Array.from({ length: 5 }, (_, number) =>
      checkpoints.change(workspace, by('file_write'), [`${number}.txt`], () =>
        workspace.write(`${number}.txt`, Buffer.from('late')),
      ),
    )
    const outcomes = Promise.allSettled([program, ...waiting])
    await started
    await checkpoints.removeProject(projectId, {
      async stop() {},
      async remove() {
        await projects.remove(userId, projectId)
        await workspaces.remove(userId, projectId)
      },
    })
    for (const outcome of await outcomes)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'project_deleted' } })
    // This also applies to code that still holds the workspace, and to later changes.
    await expect(workspace.write('b.txt', Buffer.from('x'))).rejects.toMatchObject({
      code: 'project_deleted',
    })
    await expect(workspace.list('')).rejects.toMatchObject({ code: 'project_deleted' })
    await expect(
      checkpoints.change(workspace, by('file_write'), ['b.txt'], () =>
        workspace.write('b.txt', Buffer.from('x')),
      ),
    ).rejects.toMatchObject({ code: 'project_deleted' })
    expect(await records.list(projectId, { limit: 10 })).toEqual([])
    expect(await isThere(workspace.root)).toBe(false)
    expect(await isThere(workspaces.serverFolder(projectId))).toBe(false)
  })

  test('stays usable when the deletion fails', async () => {
    const { checkpoints, workspace, projectId } = await openProject(database)
    const failed = checkpoints.removeProject(projectId, {
      async stop() {},
      remove: () => Promise.reject(new Error('the store is away')),
    })
    await expect(failed).rejects.toThrow('the store is away')
    await checkpoints.change(workspace, by('file_write'), ['a.txt'], () =>
      workspace.write('a.txt', Buffer.from('still here')),
    )
    expect((await workspace.list('')).map(({ name }) => name)).toEqual(['a.txt'])
  })

  test('accepts no new document, and a document being read leaves no passage', async () => {
    const { projectId, userId } = await openProject(database)
    const documents = createDocumentRepository(database)
    const values = { projectId, userId, name: 'd.txt', mime: 'text/plain', size: 1 }
    const document = await documents.create(values)
    await createProjectRepository(database).remove(userId, projectId)
    const passage = { heading: null, page: null, text: 'late', tokens: 'late' }
    expect(await documents.index(document, [passage])).toBe(false)
    expect(await documents.passagesOf(projectId, document.id, 0, 10)).toEqual([])
    await expect(documents.create(values)).rejects.toMatchObject({ code: 'project_deleted' })
  })
})
