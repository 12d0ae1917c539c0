// The door for long questions: it answers as the other one does, and nobody waits for it.
import SqliteClient from 'better-sqlite3'
import { eq, sql } from 'drizzle-orm'
import { describe, expect, test, vi } from 'vitest'
import { createStore } from '../../../../server/db/store.ts'
import { cosineDistance } from '../../../../server/db/vectors/cosine.ts'
import { addVectorFunctions } from '../../../../server/db/vectors/sqlite.ts'
import { indexWords } from '../../../../server/lib/words.ts'
import { describeOnEachDatabase, useDatabases } from '../../../support/databases.ts'
import { addProject, addUser } from '../../../support/rows.ts'

describeOnEachDatabase('long questions', (open) => {
  test('are answered in the same types as short ones, and see what was written before', async () => {
    const database = await open()
    const userId = await addUser(database)
    const id = await addProject(database, userId)
    const { projects } = database.tables
    const ask = (door: typeof database.read) =>
      door.select().from(projects).where(eq(projects.id, id))
    expect(await ask(database.readOffThread)).toEqual(await ask(database.read))
    expect((await ask(database.readOffThread))[0]?.createdAt).toBeInstanceOf(Date)
    expect(await database.readOffThread.select().from(projects).where(sql`1 = 0`)).toEqual([])
  })

  test('that are wrong fail alone', async () => {
    const database = await open()
    const { projects } = database.tables
    const wrong = database.readOffThread.select({ x: sql`no_such_function(1)` }).from(projects)
    await expect(wrong).rejects.toThrow(/no.such.function/i)
    expect(await database.readOffThread.select().from(projects)).toEqual([])
  })
})

describe('a search among 10,000 passages', () => {
  const { open } = useDatabases()

  test('for words that every passage holds keeps nobody waiting (sqlite)', async () => {
    const database = await open('sqlite')
    const { documents } = createStore(database)
    const userId = await addUser(database)
    const projectId = await addProject(database, userId)
    const document = await documents.create({
      projectId,
      userId,
      name: 'rules.txt',
      mime: 'text/plain',
      size: 1,
    })
    const passages = Array.from({ length: 10_000 }, (_, at) => {
      const text = `Rule ${at}: requests are approved by the office. 规定由部门主管审批。`.repeat(4)
      return { heading: null, page: null, text, tokens: indexWords(text).join(' ') }
    })
    await documents.index(document, passages)
    const words = ['rule', 'request', 'approved', 'office']
    // The thread is there; what is watched is the search.
    await documents.search(projectId, words, 1, 'any')
    let ticks = 0
    const tick = (): void => {
      ticks += 1
      pending = setImmediate(tick)
    }
    let pending = setImmediate(tick)
    const found = await Promise.all(
      Array.from({ length: 5 }, () => documents.search(projectId, words, 40, 'any')),
    )
    clearImmediate(pending)
    expect(found.every((one) => one.length === 40)).toBe(true)
    // The event loop goes round and round meanwhile; on its own thread it would do so between two searches only.
    expect(ticks).toBeGreaterThan(50)
  }, 60_000)
})

describe('comparing vectors in SQLite', () => {
  const vector = (...values: number[]): Buffer => Buffer.from(Int8Array.from(values))
  const distances = async () => {
    const client = new SqliteClient(':memory:')
    const by = await addVectorFunctions(client)
    const statement = client.prepare('select vec_distance_cosine(vec_int8(?), vec_int8(?))').pluck()
    const found = [
      statement.get(vector(1, 2, 3), vector(1, 2, 3)),
      statement.get(vector(127, 0, 0), vector(0, 127, 0)),
      statement.get(vector(10, 20, -30), vector(-5, 100, 7)),
    ]
    client.close()
    return { by, found: found.map(Number) }
  }

  test('gives the same with sqlite-vec as without', async () => {
    const own = [0, 1, cosineDistance(Int8Array.of(10, 20, -30), Int8Array.of(-5, 100, 7)) ?? 0]
    const loaded = await distances()
    for (const [at, distance] of loaded.found.entries())
      expect(distance).toBeCloseTo(own[at] ?? 9, 4)
    vi.doMock('sqlite-vec', () => {
      throw new Error('there is no build for this machine')
    })
    const without = await distances()
    vi.doUnmock('sqlite-vec')
    expect(without.by).toBe('javascript')
    for (const [at, distance] of without.found.entries())
      expect(distance).toBeCloseTo(own[at] ?? 9, 4)
  })
})
