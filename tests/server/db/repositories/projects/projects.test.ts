// Projects of a user: names, lists, updates.
import { eq } from 'drizzle-orm'
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../../../server/db/database.ts'
import { createStore, type Store } from '../../../../../server/db/store.ts'
import { newId } from '../../../../../server/lib/ids.ts'
import type { ProjectId } from '../../../../../server/protocol/ids.ts'
import { describeOnEachDatabase } from '../../../../support/store/databases.ts'
import { somebody } from '../../../../support/store/store-rows.ts'
import { gate } from '../../../tools/support.ts'

describeOnEachDatabase('projects', (open) => {
  let database: Database
  let store: Store
  /** Is called before a statement that changes projects runs. */
  let onUpdate = () => {}
  beforeAll(async () => {
    database = await open({
      onStatement: (sql) => {
        if (sql.startsWith('update "projects"')) onUpdate()
      },
    })
    store = createStore(database)
  })

  test('the people who decide for one are its approvers and the members of their groups, each once, who can sign in', async () => {
    // The first account of a database is its administrator, and the last one of these cannot be disabled.
    const { id: owner } = await somebody(store)
    const people = await Promise.all(Array.from({ length: 4 }, () => somebody(store)))
    const [alone, both, member, gone] = people.map(({ id }) => id)
    if (!alone || !both || !member || !gone) throw new Error('not four people')
    const { id } = await store.projects.create(owner, { name: 'decided', description: null })
    const permissions = {
      models: null,
      tools: null,
      mcp_servers: null,
      approval_modes: null,
      features: null,
    }
    const group = await store.groups.create(
      { name: `deciders ${id}`, description: '', permissions, quota: null, sharedQuota: null },
      10,
    )
    for (const one of [both, member, gone]) await store.groups.addMember(group.id, one)
    await database.write((tx) =>
      store.approvers.replace(tx, id, [
        ...[alone, both].map((userId) => ({
          principal: `user:${userId}` as const,
          userId,
          groupId: null,
        })),
        { principal: `group:${group.id}` as const, userId: null, groupId: group.id },
      ]),
    )
    expect((await store.approvers.people(id)).toSorted()).toEqual(
      [alone, both, member, gone].toSorted(),
    )
    for (const one of [alone, gone]) await store.users.update(one, { isActive: false })
    expect((await store.approvers.people(id)).toSorted()).toEqual([both, member].toSorted())
  })

  test('one user has at most 2,000 of them, so that nobody fills the disk with empty ones', async () => {
    const { id: userId } = await somebody(store)
    const last = await store.projects.create(userId, { name: 'last', description: null })
    const others = Array.from({ length: 1_999 }, (_, at) => ({
      ...last,
      id: newId<ProjectId>(),
      name: `project ${at}`,
    }))
    await database.write(async (tx) => {
      await tx.insert(database.tables.projects).values(others)
    })
    const another = () => store.projects.create(userId, { name: 'another', description: null })
    await expect(another()).rejects.toMatchObject({ reason: 'projects_exhausted', status: 409 })
    await store.projects.remove(userId, last.id)
    await another()
  })

  test('a project name is unique per user, also for concurrent requests', async () => {
    const [one, two] = [await somebody(store), await somebody(store)]
    const make = (userId: typeof one.id) =>
      store.projects.create(userId, { name: 'site', description: null })
    const results = await Promise.allSettled([make(one.id), make(one.id), make(two.id)])
    expect(results.map(({ status }) => status).toSorted()).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
    ])
    const refused = results.find((result) => result.status === 'rejected')
    expect(refused?.reason).toMatchObject({ code: 'name_taken', status: 409 })
  })

  test('projects are listed with their total, changed and removed by their owner only', async () => {
    const [owner, stranger] = [await somebody(store), await somebody(store)]
    const names = ['a', 'b', 'c']
    const made = []
    for (const name of names)
      made.push(await store.projects.create(owner.id, { name, description: 'd' }))
    const first = await store.projects.list(owner.id, { limit: 2 })
    expect(first).toMatchObject({ total: 3, hasMore: true })
    const second = await store.projects.list(owner.id, {
      limit: 2,
      cursor: first.nextCursor ?? undefined,
    })
    expect([...first.items, ...second.items].map(({ name }) => name).toSorted()).toEqual(names)
    const [project] = made
    if (project === undefined) throw new Error('nothing was made')
    expect(await store.projects.find(stranger.id, project.id)).toBeUndefined()
    expect(await store.projects.update(stranger.id, project.id, { name: 'x' })).toBeUndefined()
    expect(await store.projects.remove(stranger.id, project.id)).toBe(false)
    await expect(store.projects.update(owner.id, project.id, { name: 'b' })).rejects.toMatchObject({
      code: 'name_taken',
    })
    expect(
      await store.projects.update(owner.id, project.id, { name: 'z', description: null }),
    ).toMatchObject({ name: 'z', description: null })
    const conversation = await store.conversations.create(owner.id, { projectId: project.id })
    expect(await store.projects.remove(owner.id, project.id)).toBe(true)
    expect((await store.conversations.find(owner.id, conversation.id))?.projectId).toBeNull()
  })

  test('a change of its settings, and keeping it, leave what a change of its files stores at the same moment', async () => {
    const { id: userId } = await somebody(store)
    const { projects } = database.tables
    /** Makes the change when another one has written the project, and ends that one when the change has come to writing. */
    const meanwhile = async <T>(id: ProjectId, change: () => Promise<T>): Promise<T> => {
      const [grown, end] = [gate(), gate()]
      const growing = database.write(async (tx) => {
        await tx.update(projects).set({ size: 7, historySize: 9 }).where(eq(projects.id, id))
        grown.open()
        await end.opened
      })
      await grown.opened
      onUpdate = end.open
      const changing = change()
      // Its transactions take turns.
      if (database.dialect === 'sqlite') end.open()
      await growing
      return await changing
    }
    const { id } = await store.projects.create(userId, { name: 'measured', description: null })
    await meanwhile(id, () =>
      store.projects.update(userId, id, { description: 'd', settings: { model: 'm' } }),
    )
    expect(await store.projects.update(userId, id, { icon: '🐦' })).toMatchObject({
      name: 'measured',
      description: 'd',
      icon: '🐦',
      settings: { model: 'm' },
      size: 7,
      historySize: 9,
    })
    const conversation = await store.conversations.create(userId, {})
    const { id: scratch } = await store.projects.forFilesOf(userId, conversation.id)
    const kept = await meanwhile(scratch, () => store.projects.keep(userId, scratch, 'kept'))
    expect(kept?.row).toMatchObject({ name: 'kept', scratch: false, size: 7, historySize: 9 })
    expect(await store.projects.find(userId, scratch)).toMatchObject({ ...kept?.row })
  })
})
