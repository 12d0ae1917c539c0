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

  test('are limited for each user: beyond, the contents and then the decisions of the oldest ones are gone', async () => {
    const { id: userId } = await somebody(store)
    const { id: projectId } = await store.projects.create(userId, { name: 'Q', description: null })
    const row = (n: number) => ({
      ...({ userId, projectId, what: 'skill', path: `${n}`, sha256: `${n}` } as const),
      ...({ decision: 'accept', decidedAt: new Date(n) } as const),
      files: [{ path: 'SKILL.md', sha256: `${n}`, text: `${n}` }],
    })
    const numbers = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => from + n)
    await store.consents.decide(numbers(0, 301).map(row))
    expect((await keptTexts(userId)).map(Number).sort((a, b) => a - b)).toEqual(numbers(1, 301))
    // As after many decisions, without the time that each takes.
    const { consents } = database.tables
    const many = numbers(301, 10_500).map((n) => ({ ...row(n), files: null }))
    await database.write(async (tx) => {
      for (let at = 0; at < many.length; at += 1_000)
        await tx.insert(consents).values(many.slice(at, at + 1_000))
    })
    await store.consents.decide([row(10_500)])
    const known = async (...hashes: number[]) =>
      [...(await store.consents.decisions(userId, 'skill', hashes.map(String))).keys()]
        .map(Number)
        .sort((a, b) => a - b)
    expect(await known(0, 500, 501, 10_500)).toEqual([501, 10_500])
    expect((await keptTexts(userId)).map(Number)).toEqual([10_500])
  })
})
