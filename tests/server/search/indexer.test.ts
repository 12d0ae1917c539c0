// Indexing in the background: what was stored before the search index existed, across restarts, and the rest of long files.
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { indexedValue, toIndexedWords } from '../../../server/db/search-entries.ts'
import { PROGRESS_KEYS } from '../../../server/db/search-progress.ts'
import { createStore } from '../../../server/db/store.ts'
import { createSearchIndexer } from '../../../server/search/indexer.ts'
import { createIndexProgress, Progress } from '../../../server/search/progress.ts'
import { createSearch } from '../../../server/search/search.ts'
import { describeOnEachDatabase, silentLog } from '../../support/store/databases.ts'
import { addProject } from '../../support/store/rows.ts'
import { say, somebody } from '../../support/store/store-rows.ts'

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
    const progress = createIndexProgress(store)
    const search = createSearch(store, progress)
    const count = async () => (await search.find(userId, { q: 'numbat', limit: 100 })).items.length
    return { database, store, userId, id, search, progress, count }
  }

  test('older titles and messages are found after the indexer has run', async () => {
    const { database, store, progress, count } = await oldDatabase()
    const indexer = createSearchIndexer(store, database, silentLog)
    expect(await count()).toBe(0)
    await indexer.run()
    expect(await count()).toBe(36)
    expect(await progress.share()).toBe(1)
  })

  test('an interrupted indexer continues where it stopped, and new messages are found meanwhile', async () => {
    const { database, store, id, progress, count } = await oldDatabase()
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
    expect(await progress.share()).toBeGreaterThan(0)
    expect(await progress.share()).toBeLessThan(1)
    const indexed = await count()
    expect(indexed).toBeGreaterThan(1)
    expect(indexed).toBeLessThan(36)
    await say(database, id, 'one more numbat', null)
    expect(await count()).toBe(indexed + 1)
    indexer = createSearchIndexer(store, database, silentLog)
    await indexer.run()
    expect(await count()).toBe(37)
  })

  test('single characters are found in an older index, and the background indexer adds them', async () => {
    const database = await open()
    const store = createStore(database)
    const { searchWords } = database.tables
    const { id: userId } = await somebody(store)
    const { id } = await store.conversations.create(userId, { title: '水獭的家' })
    for (const text of ['河狸在筑坝', 'only letters', '它在游泳'])
      await say(database, id, text, null)
    // An index of earlier versions had pairs of characters and the last one of each run, so that nothing was found exactly.
    await database.write(async (tx) => {
      const rows = await tx.select({ rowid: searchWords.rowid }).from(searchWords)
      await tx.delete(searchWords)
      for (const [at, { rowid }] of rows.toSorted((a, b) => a.rowid - b.rowid).entries()) {
        const text = ['水獭的家', '河狸在筑坝', 'only letters', '它在游泳'][at] ?? ''
        const words = toIndexedWords(database.dialect, userId, text)
          .split(' ')
          .filter((word) => Array.from(word.replaceAll("'", '')).length > 1)
          .join(' ')
        await tx
          .insert(searchWords)
          .values({ rowid, words: indexedValue(database.dialect, sql`${words}`) })
      }
      const newest = await store.search.newestRow()
      await store.settings.set(tx, PROGRESS_KEYS.missing, { from: newest, next: 0 })
    })
    const find = async (q: string, progress = createIndexProgress(store)) =>
      (await createSearch(store, progress).find(userId, { q, limit: 9 })).items.map(({ snippet }) =>
        snippet.replaceAll(/<\/?mark>/g, ''),
      )
    expect(await find('在')).toEqual(['它在游泳', '河狸在筑坝'])
    expect(await find('水')).toEqual(['水獭的家'])
    const asWords = { share: async () => 1, characters: async () => 'word' as const }
    expect(await find('在', asWords)).toEqual([])
    await createSearchIndexer(store, database, silentLog).run()
    expect(await createIndexProgress(store).characters()).toBe('word')
    expect(await find('在')).toEqual(['它在游泳', '河狸在筑坝'])
    expect(await find('水', asWords)).toEqual(['水獭的家'])
    expect(await find('letters')).toEqual(['only letters'])
  })

  test('an index of an earlier version lacks emoji, parts of compounds and words without marks, and the background indexer adds them', async () => {
    const database = await open()
    const store = createStore(database)
    const { searchWords } = database.tables
    const { id: userId } = await somebody(store)
    const { id } = await store.conversations.create(userId, { title: 'Haustürschlüssel' })
    const texts = ['party 🎉', 'الكِتَاب', 'nothing new']
    for (const text of texts) await say(database, id, text, null)
    await database.write(async (tx) => {
      const rows = await tx.select({ rowid: searchWords.rowid }).from(searchWords)
      await tx.delete(searchWords)
      const owner = toIndexedWords(database.dialect, userId, '')
      const words = ['haustürschlüssel', 'party', 'الكِتَاب', 'nothing new']
      for (const [at, { rowid }] of rows.toSorted((a, b) => a.rowid - b.rowid).entries())
        await tx
          .insert(searchWords)
          .values({ rowid, words: indexedValue(database.dialect, sql`${`${owner} ${words[at]}`}`) })
      const newest = await store.search.newestRow()
      for (const key of [PROGRESS_KEYS.missing, PROGRESS_KEYS.characters])
        await store.settings.set(tx, key, { from: newest, next: 0 })
    })
    const find = async (q: string) =>
      (await createSearch(store, createIndexProgress(store)).find(userId, { q, limit: 9 })).items
        .length
    for (const q of ['🎉', 'كتاب', 'schlüssel']) expect(await find(q), q).toBe(0)
    expect(await find('party')).toBe(1)
    await createSearchIndexer(store, database, silentLog).run()
    for (const q of ['🎉', 'كتاب', 'schlüssel', 'party', 'nothing'])
      expect(await find(q), q).toBe(1)
  })

  test('passages that an earlier version has indexed are found by parts of words, without marks, after the indexer has run, also when it was interrupted', async () => {
    const { database, store, userId, search } = await oldDatabase()
    const projectId = await addProject(database, userId)
    const document = await store.documents.create({
      projectId,
      userId,
      name: 'chairs.txt',
      mime: 'text/plain',
      size: 1,
    })
    const texts = Array.from({ length: 25 }, (_, at) => `Gartenstuhlpolster ${at}, مُحَمَّد`)
    await store.documents.index(
      document,
      // The words of a version that knew neither parts of compounds nor vowel marks.
      texts.map((text) => ({ heading: null, page: null, text, tokens: text.toLowerCase() })),
    )
    const found = async (q: string) =>
      (await search.find(userId, { q, type: 'document', limit: 100 })).items.length
    expect([await found('stuhl'), await found('محمد'), await found('gartenst')]).toEqual([0, 0, 25])
    const indexed = async (): Promise<number> =>
      (await store.settings.get(PROGRESS_KEYS.passages, Progress))?.next ?? Number.POSITIVE_INFINITY
    const first = createSearchIndexer(
      store,
      {
        write: async (work) => {
          const result = await database.write(work)
          if ((await indexed()) < 25) void first.stop()
          return result
        },
      },
      silentLog,
    )
    await first.run()
    expect(await indexed()).toBeGreaterThan(0)
    expect(await found('stuhl')).toBeGreaterThan(0)
    expect(await found('stuhl')).toBeLessThan(25)
    const second = createSearchIndexer(store, database, silentLog)
    await second.run()
    await second.stop()
    expect([await found('stuhl'), await found('محمد'), await found('gartenst')]).toEqual([
      25, 25, 25,
    ])
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
      const { items } = await createSearch(store, createIndexProgress(store)).find(userId, {
        q: word,
        limit: 5,
      })
      expect(items.map(({ snippet }) => snippet)).toEqual([
        expect.stringContaining(`<mark>${word}</mark>`),
      ])
    }
  })
})
