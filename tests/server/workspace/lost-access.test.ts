// What ends for many people at once who are no members of a project any more.
import { expect, test } from 'vitest'
import { createStore } from '../../../server/db/store.ts'
import { endLostAccess } from '../../../server/workspace/change-members.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import { addProject, addUser } from '../../support/store/rows.ts'

describeOnEachDatabase('losing access to a project', (open) => {
  test('stops the runs of all people together, before and after their conversations leave it', async () => {
    const database = await open()
    const store = createStore(database)
    const projectId = await addProject(database, await addUser(database))
    const { projectMembers, conversations } = database.tables
    await database.write(async (tx) => {
      await tx
        .insert(projectMembers)
        .values({ projectId, principal: 'everyone', userId: null, groupId: null, role: 'use' })
    })
    const people = await Promise.all(Array.from({ length: 20 }, () => addUser(database)))
    for (const userId of people) await store.conversations.create(userId, { projectId })
    await database.write(async (tx) => void (await tx.delete(projectMembers)))

    const stopped: string[][] = []
    const told: string[] = []
    await endLostAccess([projectId], {
      store,
      async stopMembers(lost) {
        const left = await database.read.select({ id: conversations.projectId }).from(conversations)
        const isDone = left.every(({ id }) => id === null)
        stopped.push([isDone ? 'after' : 'before', ...lost.map(({ userId }) => userId).sort()])
      },
      announce: (userId) => void told.push(userId),
    })
    expect(stopped).toEqual([
      ['before', ...people.toSorted()],
      ['after', ...people.toSorted()],
    ])
    expect(told.toSorted()).toEqual(people.toSorted())
  })
})
