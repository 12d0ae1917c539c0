// A project whose row was removed before the process died: its folders are removed afterwards, and no other ones.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { purgeDeleted } from '../../../server/administration/retention.ts'
import { createStore } from '../../../server/db/store.ts'
import { newId } from '../../../server/lib/ids.ts'
import type { ProjectId } from '../../../server/protocol/ids.ts'
import { createWorkspaces } from '../../../server/workspace/workspaces.ts'
import { describeOnEachDatabase, silentLog } from '../../support/store/databases.ts'
import { somebody } from '../../support/store/store-rows.ts'

describeOnEachDatabase('a removed project', (open) => {
  test('whose process died before its folders were removed loses them at the next start, with its account or without it', async () => {
    const store = createStore(await open())
    const root = mkdtempSync(join(tmpdir(), 'nanoclaw-removed-'))
    const limits = { fileRead: 1_000, fileWrite: 1_000, project: 1_000 }
    const workspaces = await createWorkspaces({ root, limits })
    const [stays, leaves] = [await somebody(store), await somebody(store)]
    const folderOf = (userId: string, id: string): string => join(root, userId, id)
    const project = async (userId: typeof stays.id, name: string): Promise<ProjectId> => {
      const { id } = await store.projects.create(userId, { name, description: null })
      mkdirSync(folderOf(userId, id), { recursive: true })
      writeFileSync(join(folderOf(userId, id), 'file'), name)
      mkdirSync(workspaces.serverFolder(id), { recursive: true })
      return id
    }
    const kept = await project(stays.id, 'kept')
    const stuck = await project(stays.id, 'removed, and closed by a program')
    const removed = await project(stays.id, 'removed')
    const withAccount = await project(leaves.id, 'removed with its account')
    // Of a database that is not connected: nobody here has asked to remove it.
    const foreign = newId<ProjectId>()
    mkdirSync(folderOf(stays.id, foreign))

    expect(await store.projects.remove(stays.id, stuck)).toBe(true)
    expect(await store.projects.remove(stays.id, removed)).toBe(true)
    await store.projects.remove(leaves.id, withAccount)
    await store.users.remove(leaves.id)
    expect(existsSync(folderOf(stays.id, removed))).toBe(true)

    const stop = purgeDeleted({
      endLostAccess: async () => {},
      store,
      workspaces: {
        async remove(userId, id) {
          if (id === stuck) throw new Error('EACCES: permission denied')
          await workspaces.remove(userId, id)
        },
      },
      chat: { removeConversation: async () => {} },
      isSole: true,
      auditDays: 365,
      inspectorDays: 14,
      log: silentLog,
      now: () => new Date(),
    })
    await expect.poll(() => store.projects.removed()).toMatchObject([{ id: stuck }])
    stop()
    expect(existsSync(folderOf(stays.id, removed))).toBe(false)
    expect(existsSync(workspaces.serverFolder(removed))).toBe(false)
    expect(existsSync(folderOf(leaves.id, withAccount))).toBe(false)
    expect(existsSync(folderOf(stays.id, kept))).toBe(true)
    expect(existsSync(folderOf(stays.id, foreign))).toBe(true)
    rmSync(root, { recursive: true })
  })
})
