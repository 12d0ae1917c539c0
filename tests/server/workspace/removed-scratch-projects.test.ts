// The removal of a scratch project, beside a person who keeps it, and with folders that cannot be removed.
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../server/db/database.ts'
import { createStore, type Store } from '../../../server/db/store.ts'
import { createScratchProjects } from '../../../server/workspace/scratch-projects.ts'
import { describeOnEachDatabase, silentLog } from '../../support/store/databases.ts'
import { openProject, treeOf } from '../../support/store/projects.ts'
import { gate } from '../tools/support.ts'

describeOnEachDatabase('a scratch project that is removed', (open) => {
  let database: Database
  let store: Store
  beforeAll(async () => {
    database = await open()
    store = createStore(database)
  })
  /** A conversation with a file of its own. */
  const conversationWithFile = async () => {
    const project = await openProject(database)
    const { userId } = project
    const { id } = await store.conversations.create(userId, { temporary: true })
    const { id: scratch } = await store.projects.forFilesOf(userId, id)
    const workspace = project.workspaces.open(userId, scratch)
    await workspace.write('notes.md', Buffer.from('mine'))
    return { ...project, id, scratch, workspace }
  }
  const parts = { onNew() {}, log: silentLog }

  test('while it waits for a change, and is kept meanwhile, stays with its files', async () => {
    const { checkpoints, workspaces, workspace, userId, id, scratch } = await conversationWithFile()
    const [changing, waiting, end] = [gate(), gate(), gate()]
    const change = checkpoints.change(
      workspace,
      { tool: 'exec', messageId: null, runId: null },
      ['other.md'],
      async () => {
        changing.open()
        await end.opened
      },
    )
    await changing.opened
    const removed = createScratchProjects({
      ...parts,
      projects: store.projects,
      workspace: {
        workspaces,
        checkpoints: {
          removeProject(projectId, steps) {
            const removal = checkpoints.removeProject(projectId, steps)
            waiting.open()
            return removal
          },
        },
      },
    }).remove(userId, id)
    await waiting.opened
    await store.projects.keep(userId, scratch, 'Kept')
    end.open()
    await Promise.allSettled([change])
    await removed

    await store.conversations.remove(userId, id)
    expect(await store.projects.find(userId, scratch)).toMatchObject({
      name: 'Kept',
      scratch: false,
    })
    expect(await store.projects.removed()).toEqual([])
    expect(await treeOf(workspace.root)).toEqual({ 'notes.md': 'mine' })
  })

  test('leaves folders that cannot be removed now to the purge, and its conversation can go', async () => {
    const { checkpoints, userId, id, scratch } = await conversationWithFile()
    const scratchProjects = createScratchProjects({
      ...parts,
      projects: store.projects,
      workspace: {
        checkpoints,
        workspaces: { remove: () => Promise.reject(new Error('EACCES: permission denied')) },
      },
    })
    await scratchProjects.remove(userId, id)
    expect(await scratchProjects.find(userId, id)).toBeNull()
    expect(await store.projects.removed()).toEqual([{ id: scratch, userId }])
    expect(await store.conversations.remove(userId, id)).toBe(true)
    expect(await store.projects.removed()).toEqual([{ id: scratch, userId }])
  })
})
