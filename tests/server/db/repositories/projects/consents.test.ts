// What is kept of the versions that users have accepted.
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../../../server/db/database.ts'
import { createStore, type Store } from '../../../../../server/db/store.ts'
import { describeOnEachDatabase } from '../../../../support/store/databases.ts'
import { somebody } from '../../../../support/store/store-rows.ts'

describeOnEachDatabase('accepted versions', (open) => {
  let database: Database
  let store: Store
  beforeAll(async () => {
    database = await open()
    store = createStore(database)
  })
  const keptTexts = async (userId: string): Promise<string[]> => {
    const rows = await database.read.select().from(database.tables.consents)
    return rows.flatMap((row) =>
      row.userId === userId && row.files !== null
        ? row.files.flatMap(({ text }) => text ?? [])
        : [],
    )
  }

  test('keep the contents of the newest one only, and none once the project is removed', async () => {
    const { id: userId } = await somebody(store)
    const { id: projectId } = await store.projects.create(userId, { name: 'P', description: null })
    const accept = (text: string, path: string, at: number) =>
      store.consents.decide([
        {
          userId,
          projectId,
          what: 'skill',
          path,
          sha256: `${path} ${text}`,
          decision: 'accept',
          files: [{ path: 'SKILL.md', sha256: text, text }],
          decidedAt: new Date(at),
        },
      ])
    await accept('first', 'a', 1)
    await accept('other', 'b', 2)
    await accept('second', 'a', 3)
    expect((await keptTexts(userId)).toSorted()).toEqual(['other', 'second'])
    expect(await store.consents.lastAcceptedHash(userId, projectId, 'a')).toBe('a second')
    await store.projects.remove(userId, projectId)
    expect(await keptTexts(userId)).toEqual([])
    const decisions = await store.consents.decisions(userId, 'skill', ['a first', 'a second'])
    expect(decisions.size).toBe(2)
  })
})
