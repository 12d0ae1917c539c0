// The off-thread reader: long queries return correct results and do not block the event loop.
import { eq, sql } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { createStore } from '../../../../server/db/store.ts'
import { indexWords } from '../../../../server/lib/words.ts'
import { describeOnEachDatabase, useDatabases } from '../../../support/store/databases.ts'
import { addProject, addUser } from '../../../support/store/rows.ts'

describeOnEachDatabase('long queries', (open) => {
  test('return the same types as short ones and see earlier writes', async () => {
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

  test('that are invalid fail without affecting others', async () => {
    const database = await open()
    const { projects } = database.tables
    const wrong = database.readOffThread.select({ x: sql`no_such_function(1)` }).from(projects)
    await expect(wrong).rejects.toThrow(/no.such.function/i)
    expect(await database.readOffThread.select().from(projects)).toEqual([])
  })
})

describe('a search among 10,000 passages', () => {
  const { open } = useDatabases()

  test('for words that every passage contains does not block the event loop (sqlite)', async () => {
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
    // Starts the thread, so that only the searches are observed.
    await documents.search(projectId, words, 1)
    const ticksOfSearches = async (): Promise<number> => {
      let ticks = 0
      const tick = (): void => {
        ticks += 1
        pending = setImmediate(tick)
      }
      let pending = setImmediate(tick)
      const found = await Promise.all(
        Array.from({ length: 5 }, () => documents.search(projectId, words, 40)),
      )
      clearImmediate(pending)
      expect(found.every((one) => one.length === 40)).toBe(true)
      return ticks
    }
    // The event loop keeps turning; searches on its own thread would let it turn only between two of them. A busy machine may
    // stop this thread for as long as all five take.
    await expect.poll(ticksOfSearches).toBeGreaterThan(50)
  }, 60_000)
})
