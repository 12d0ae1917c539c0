// The storage quota of programs, which may write anything: reserved while they run, and undone where it does not fit.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../server/db/database.ts'
import { createProjectRepository } from '../../../server/db/repositories/projects/projects.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import { openProject } from '../../support/store/projects.ts'

const KB = 1024
const by = (tool: string) => ({ tool, messageId: null, runId: null })

describeOnEachDatabase('the storage quota of programs', (open) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })

  test('undoes what a program writes beyond it, and counts files whose size was never stored', async () => {
    const { checkpoints, workspaces, userId, workspace } = await openProject(database, {
      storage: 100 * KB,
    })
    // The size of this project has never been stored.
    await writeFile(join(workspace.root, 'old.txt'), Buffer.alloc(50 * KB))
    const { id } = await createProjectRepository(database).create(userId, {
      name: 'another',
      description: null,
    })
    const another = workspaces.open(userId, id)
    await another.state('')
    const grow = (bytes: number) =>
      checkpoints.changeAnything(another, by('exec'), async ({ usedBytes, maxBytes }) => {
        await writeFile(join(another.root, 'new.bin'), Buffer.alloc(bytes))
        return maxBytes - usedBytes
      })
    await expect(grow(60 * KB)).rejects.toMatchObject({ code: 'quota_exceeded' })
    expect(await another.list('')).toEqual([])
    expect(await grow(50 * KB)).toBe(50 * KB)
    expect(await another.list('')).toMatchObject([{ name: 'new.bin' }])
  })

  test('undoes one of two programs that together exceed it', async () => {
    const { checkpoints, workspaces, userId } = await openProject(database, { storage: 100 * KB })
    const projects = createProjectRepository(database)
    const outcomes = await Promise.allSettled(
      ['one', 'two'].map(async (name) => {
        const { id } = await projects.create(userId, { name, description: null })
        const workspace = workspaces.open(userId, id)
        await workspace.state('')
        await checkpoints.changeAnything(workspace, by('exec'), () =>
          writeFile(join(workspace.root, 'new.bin'), Buffer.alloc(60 * KB)),
        )
      }),
    )
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({ code: 'quota_exceeded' })
  })

  test('is shared by concurrent programs as they grow, includes their reservations in other writes, and releases them at the end', async () => {
    const { checkpoints, workspaces, userId } = await openProject(database, { storage: 100 * KB })
    const projects = createProjectRepository(database)
    const open = async (name: string) => {
      const { id } = await projects.create(userId, { name, description: null })
      const workspace = workspaces.open(userId, id)
      await workspace.state('')
      return workspace
    }
    const [first, second, third] = [await open('one'), await open('two'), await open('three')]
    const write = (bytes: number) =>
      checkpoints.change(third, by('editor_write'), ['a.bin'], () =>
        third.write('a.bin', Buffer.alloc(bytes)),
      )
    let late: ((bytes: number) => Promise<number>) | undefined
    await checkpoints.changeAnything(first, by('exec'), async (one) => {
      expect(await one.reserve(60 * KB)).toBe(100 * KB)
      await checkpoints.changeAnything(second, by('exec'), async (two) => {
        expect(two.maxBytes).toBe(40 * KB)
        // More than is left: nothing is reserved, so the rest is still there.
        expect(await two.reserve(50 * KB)).toBe(40 * KB)
        const both = await Promise.all([two.reserve(20 * KB), two.reserve(30 * KB)])
        expect(both).toEqual([40 * KB, 40 * KB])
        expect(await one.reserve(80 * KB)).toBe(70 * KB)
        await expect(write(20 * KB)).rejects.toMatchObject({ code: 'quota_exceeded' })
        await write(10 * KB)
        late = two.reserve
      })
      // It wrote nothing.
      expect(await one.reserve(60 * KB)).toBe(90 * KB)
    })
    await late?.(50 * KB)
    expect(await workspaces.storage.left(userId)).toBe(90 * KB)
  })
})
