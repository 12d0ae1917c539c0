// A project that is handed over to another user, or whose members change, while somebody changes its files.
import { existsSync } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { eq } from 'drizzle-orm'
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../server/db/database.ts'
import { createStore } from '../../../server/db/store.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import { openProject } from '../../support/store/projects.ts'
import { addUser } from '../../support/store/rows.ts'

const by = { tool: 'file_write', messageId: null, runId: null }

describeOnEachDatabase('a project that is handed over', (open) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })

  /** A project with a member who edits it, and the user who receives it. */
  async function prepare() {
    const project = await openProject(database)
    const { projectId, userId, workspaces, workspace } = project
    const { accountData } = createStore(database)
    const [heir, editor] = [await addUser(database), await addUser(database)]
    await database.write(async (tx) => {
      await tx.insert(database.tables.projectMembers).values({
        ...{ projectId, principal: `user:${editor}`, userId: editor, role: 'edit' },
      })
    })
    return {
      ...project,
      /** The folder as the editor has it open, and as the heir finds it. */
      edited: { ...workspace, actorId: editor },
      inherited: workspaces.open(heir, projectId),
      moveRows: () =>
        accountData.handOverProject(projectId, { from: userId, to: heir, label: 'former' }),
      moveFolder: () => workspaces.handOver(projectId, { from: userId, to: heir }),
    }
  }

  test('moves when a change in progress has ended, with what that has written', async () => {
    const { checkpoints, workspace, edited, inherited, ...move } = await prepare()
    const order: string[] = []
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    let begin = () => {}
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const change = checkpoints.change(edited, by, ['a.txt'], async () => {
      begin()
      await ended
      await edited.write('a.txt', Buffer.from('written'))
      order.push('written')
    })
    await begun
    const handedOver = checkpoints.handOver(workspace, async () => {
      order.push('moved')
      await move.moveFolder()
      await move.moveRows()
    })
    await setImmediate()
    end()
    await Promise.all([change, handedOver])
    expect(order).toEqual(['written', 'moved'])
    expect((await inherited.read('a.txt')).bytes.toString()).toBe('written')
  })

  test('is not changed any more in its former folder, which does not come back, by what waited at another instance', async () => {
    const { checkpoints, workspace, edited, inherited, moveRows } = await prepare()
    await edited.write('a.txt', Buffer.from('kept'))
    // As another process does: this one has marked nothing.
    const handedOver = checkpoints.handOver(workspace, async () => {
      await mkdir(dirname(inherited.root), { recursive: true })
      await rename(workspace.root, inherited.root)
      await moveRows()
    })
    const late = checkpoints.change(edited, by, ['b.txt'], () =>
      edited.write('b.txt', Buffer.from('lost')),
    )
    await handedOver
    await expect(late).rejects.toMatchObject({ reason: 'project_busy' })
    expect(existsSync(workspace.root)).toBe(false)
    expect((await inherited.list('')).map(({ path }) => path)).toEqual(['a.txt'])
  })

  test('is not changed by a member whose role became lower while the change waited for another', async () => {
    const { checkpoints, workspace, edited, projectId } = await prepare()
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const first = checkpoints.change(workspace, by, ['a.txt'], async () => {
      await ended
      await workspace.write('a.txt', Buffer.from('first'))
    })
    const late = checkpoints.change(edited, by, ['b.txt'], () =>
      edited.write('b.txt', Buffer.from('late')),
    )
    const { projectMembers } = database.tables
    await database.write(
      async (tx) =>
        void (await tx
          .update(projectMembers)
          .set({ role: 'use' })
          .where(eq(projectMembers.projectId, projectId))),
    )
    end()
    await first
    await expect(late).rejects.toMatchObject({ reason: 'read_only_project' })
    expect((await workspace.list('')).map(({ path }) => path)).toEqual(['a.txt'])
  })
})
