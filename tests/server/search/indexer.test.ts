// Indexing in the background: what was stored before the search index existed, across restarts, and the rest of long files.
import { expect, test } from 'vitest'
import { createStore } from '../../../server/db/store.ts'
import { createSearchIndexer } from '../../../server/search/indexer.ts'
import { createSearch } from '../../../server/search/search.ts'
import { describeOnEachDatabase, silentLog } from '../../support/databases.ts'
import { say, somebody } from '../../support/store-rows.ts'

describeOnEachDatabase('search indexer', (open) => {
  async function oldDatabase() {
    const database = await open()
    const store = createStore(database)
    const { id: userId } = await somebody(store)
    const { id } = await store.conversations.create(userId, { title: 'Old numbat' })
    for (let at = 0; at < 35; at += 1) await say(database, id, `numbat ${at}`, null)
    await database.write(async (tx) => {
      await tx.delete(database.tables.searchWords)
      await tx.delete(database.tables.searchTitles)
    })
    const search = createSearch(store)
    const count = async () => (await search.find(userId, { q: 'numbat', limit: 100 })).items.length
    return { database, store, id, count }
  }

  test('older titles and messages are found after it has run', async () => {
    const { database, store, count } = await oldDatabase()
    const indexer = createSearchIndexer(store, database, silentLog)
    expect(await count()).toBe(0)
    await indexer.run()
    expect(await count()).toBe(36)
    expect(indexer.share()).toBe(1)
  })

  test('stopped in between, it continues where it was, and new messages are found meanwhile', async () => {
    const { database, store, id, count } = await oldDatabase()
    let writes = 0
    let indexer = createSearchIndexer(
      store,
      {
        write: async (work) => {
          const result = await database.write(work)
          writes += 1
          // After the titles and the first batch of messages.
          if (writes === 2) void indexer.stop()
          return result
        },
      },
      silentLog,
    )
    await indexer.run()
    expect(indexer.share()).toBeGreaterThan(0)
    expect(indexer.share()).toBeLessThan(1)
    const indexed = await count()
    expect(indexed).toBeGreaterThan(1)
    expect(indexed).toBeLessThan(36)
    await say(database, id, 'one more numbat', null)
    expect(await count()).toBe(indexed + 1)
    indexer = createSearchIndexer(store, database, silentLog)
    await indexer.run()
    expect(await count()).toBe(37)
  })

  test('attachments of any length are found to their end', async () => {
    const database = await open()
    const store = createStore(database)
    const { id: userId } = await somebody(store)
    const { id } = await store.conversations.create(userId, {})
    // More parts than are indexed with the message, and more than the entries of shorter texts can count.
    const long = (end: string) => ({
      name: `${end}.txt`,
      extension: 'txt',
      content: `begins${end} ${'filler words '.repeat(25_000)} ends${end}`,
    })
    await say(database, id, 'Read these.', null, { files: [long('quoll'), long('numbat')] })
    await createSearchIndexer(store, database, silentLog).run()
    for (const word of ['beginsquoll', 'endsquoll', 'beginsnumbat', 'endsnumbat']) {
      const { items } = await createSearch(store).find(userId, { q: word, limit: 5 })
      expect(items.map(({ snippet }) => snippet)).toEqual([
        expect.stringContaining(`<mark>${word}</mark>`),
      ])
    }
  })
})
