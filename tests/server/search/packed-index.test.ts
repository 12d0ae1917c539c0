// The packed part of the search index on PostgreSQL: it finds what the unpacked part found, and forgets what was deleted.
import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import {
  listIn,
  packEntries,
  pagesOf,
  unpackEntries,
  wordNumber,
} from '../../../server/db/packed-words/lists.ts'
import { inAll, inAny, inAtLeast, without } from '../../../server/db/packed-words/sets.ts'
import { vocabularyPages, wordsIn } from '../../../server/db/packed-words/vocabulary.ts'
import { createSegments } from '../../../server/db/repositories/search/segments.ts'
import type { MessageFilter } from '../../../server/db/repositories/search/statements.ts'
import { SEARCH_KINDS, toRowid } from '../../../server/db/search-entries.ts'
import { type Random, randomFrom, rounds, SEED } from '../../support/random.ts'
import { describeSearch, type SearchSuite } from '../../support/store/searches.ts'
import { say } from '../../support/store/store-rows.ts'

const KINDS = ['text', 'step', 'tool', 'file'] as const

const OTTER_OR_HERON: MessageFilter = {
  words: ['otter', 'heron'].map((word) => ({ word, prefix: false })),
  needed: 1,
  without: [],
  characters: 'word',
  tags: [],
  kinds: SEARCH_KINDS,
  isMine: false,
  hasFile: false,
}

/** Ascending row ids of entries, some of them of one message. */
function someEntries(random: Random, count: number): number[] {
  const rowids = new Set<number>()
  let messageRow = 1 + random.below(2 ** 31)
  while (rowids.size < count) {
    messageRow += random.below(3) === 0 ? 0 : random.below(10 ** (1 + random.below(6)))
    const place = { kind: random.pick(KINDS), position: random.below(200), part: random.below(12) }
    rowids.add(
      toRowid(
        random.below(2) === 0
          ? { messageRow, ...place }
          : { messageRow, kind: 'text', position: 0, part: 0 },
      ),
    )
  }
  return [...rowids].sort((a, b) => a - b)
}

test('the words of a segment are in the order of their bytes, however many there are', async () => {
  const words = Array.from(
    { length: 3_500 },
    (_, at) => `${at % 2 === 0 ? 'word' : 'слово'}${(at * 7_919) % 3_500}`,
  )
  const pages = await vocabularyPages(words)
  const sorted = words.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  expect(pages.flatMap((page) => [...wordsIn(page)])).toEqual(sorted)
  expect(pages.slice(1).map(({ first }) => first.toString())).toEqual(
    pages.slice(1).map((page) => [...wordsIn(page)][0]),
  )
})

test(`packed lists are read as they were written, and no word is found in another's list (seed ${SEED})`, () => {
  for (const { random, what } of rounds(5)) {
    const lists = new Map<number, number[]>([[0, someEntries(random, 50)]])
    const base = 1
    for (let word = 0; word < 300; word += 1)
      lists.set(
        wordNumber(`word${word}`),
        someEntries(random, 1 + random.below(word % 50 === 0 ? 2_000 : 20)),
      )
    const sorted = [...lists].sort(([a], [b]) => a - b)
    const pages = [
      ...pagesOf(sorted.map(([word, list]) => [word, packEntries(list, base)] as const)),
    ]
    for (const [word, list] of sorted) {
      const page = pages.findLast(({ first }) => first <= word)
      const data = page && listIn(page, word)
      expect(data && unpackEntries(data, base), what).toEqual(list)
      expect(page && listIn(page, word + 1), what).toBeUndefined()
    }
  }
})

test(`operations on packed lists answer like sets (seed ${SEED})`, () => {
  for (const { random, what } of rounds(50)) {
    const lists = Array.from({ length: 1 + random.below(5) }, () =>
      [...new Set(Array.from({ length: random.below(40) }, () => random.below(60)))].sort(
        (a, b) => a - b,
      ),
    )
    const all = [...Array(60).keys()]
    const times = (number: number) => lists.filter((list) => list.includes(number)).length
    expect(inAll(lists), what).toEqual(all.filter((number) => times(number) === lists.length))
    expect(inAny(lists), what).toEqual(all.filter((number) => times(number) > 0))
    const needed = 1 + random.below(lists.length)
    expect(inAtLeast(lists, needed), what).toEqual(all.filter((number) => times(number) >= needed))
    const [first = [], second = []] = lists
    expect(without(first, second), what).toEqual(first.filter((number) => !second.includes(number)))
  }
})

describeSearch('packed search index', (given) => {
  test(`every query finds the same texts in the same order and pages, however much is packed and merged, even between two batches (seed ${SEED})`, async () => {
    const { userId, conversation } = await given.person()
    const other = await given.person()
    const random = randomFrom(SEED)
    const words = ['otter', 'heron', 'river', 'stone', 'policies', '水獭在河里', '筑坝', '河']
    words.push('flussuferweiden')
    for (let at = 0; at < 60; at += 1) {
      const text = random
        .shuffle(words)
        .slice(0, 1 + random.below(5))
        .join(' ')
      await say(given.database, at % 5 === 0 ? other.conversation : conversation, text, null, {
        role: at % 3 === 0 ? 'assistant' : 'user',
        ...(at % 10 === 1
          ? {
              files: [{ name: `map ${at}.txt`, extension: 'txt', content: 'a heron by the river' }],
            }
          : {}),
      })
    }
    await packable(given)
    const queries = [
      ...[
        'otter',
        '水',
        '河',
        'otter heron',
        'otter heron river stone',
        '"heron river"',
        '"水獭在"',
      ],
      ...[
        'otter -heron',
        'heron -"heron river"',
        'by:me',
        'by:me otter',
        'has:file',
        'has:file -otter',
        'otter nowhere stone',
        'ott',
        'polici',
        'ufer',
        'weiden her',
        'ufer -heron',
        'uferw',
      ],
    ]
    const searches = () =>
      Promise.all(
        queries.flatMap((q) =>
          [userId, other.userId].map((who) => given.find(who, q, { limit: 50 })),
        ),
      )
    const paged = async () => {
      const pages = []
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await given.find(userId, 'otter', {
          limit: 7,
          ...(cursor === undefined ? {} : { cursor }),
        })
        pages.push(page.items)
        cursor = page.nextCursor
      }
      return pages
    }
    const stretches = async (limit: number, between: () => Promise<unknown>) => {
      const read = given.store.search.messages(userId, OTTER_OR_HERON)
      const rowids: number[] = []
      for (;;) {
        const found = await read({ before: rowids.at(-1) ?? null, limit })
        rowids.push(...found.map(({ rowid }) => rowid))
        if (found.length < limit) return rowids
        await between()
      }
    }
    const whole = await stretches(1_000, async () => {})
    const results = async () => [(await searches()).map(({ items }) => items), await paged()]
    const before = await results()
    const segments = createSegments(given.database, { waiting: 4, batch: 7, together: 2 })
    for (let round = 0, packed = true; packed; round += 1) {
      if (round % 4 === 1) expect(await results()).toEqual(before)
      let read = 0
      const packOnce = async () => {
        if (read === round % 3) await segments.packNext()
        read += 1
      }
      expect(await stretches(1 + (round % 4), packOnce)).toEqual(whole)
      packed = await segments.packNext()
    }
    expect(await stretches(3, async () => {})).toEqual(whole)
    expect(whole.length).toBeGreaterThan(4)
    expect(await results()).toEqual(before)
    // As packed by an earlier version, which did not store the words.
    const { searchVocabulary } = given.database.tables
    await given.database.write((tx) => tx.delete(searchVocabulary))
    while (await segments.addVocabulary());
    expect(await results()).toEqual(before)
    if (given.database.dialect === 'postgres') {
      expect(await rowsIn(given)).toMatchObject({ words: 4 })
      expect((await rowsIn(given)).segments).toBeGreaterThan(0)
    }
  })

  test('deleted texts are no longer found, and their lists are removed with them', async () => {
    const { userId, conversation } = await given.person()
    for (const text of ['first mayfly', 'second mayfly', 'third mayfly'])
      await say(given.database, conversation, text, null)
    const { id: kept } = await given.store.conversations.create(userId, {})
    await say(given.database, kept, 'an older mayfly', null)
    await packable(given)
    const segments = createSegments(given.database, { waiting: 0, batch: 100, together: 8 })
    while (await segments.packNext());
    expect(await given.found(userId, 'mayfly')).toHaveLength(4)
    await given.store.conversations.remove(userId, conversation)
    expect(await given.found(userId, 'mayfly')).toEqual(['an older mayfly'])
    const before = await rowsIn(given)
    await segments.dropRemoved()
    expect(await given.found(userId, 'mayfly')).toEqual(['an older mayfly'])
    const after = await rowsIn(given)
    if (given.database.dialect === 'postgres') expect(after.entries).toBe(before.entries - 3)
    expect(after.removed).toBe(0)
    await given.store.conversations.remove(userId, kept)
    await segments.dropRemoved()
    expect((await rowsIn(given)).entries).toBe(Math.max(0, after.entries - 1))
  })
})

/** Messages that are still being written are not packed. */
async function packable({ database }: SearchSuite): Promise<void> {
  const { messages } = database.tables
  await database.write((tx) =>
    tx.update(messages).set({ status: 'completed' }).where(eq(messages.status, 'streaming')),
  )
}

async function rowsIn({ database }: SearchSuite) {
  const { searchWords, searchSegments, searchRemoved } = database.tables
  const rows = await database.read.select({ rowid: searchWords.rowid }).from(searchWords)
  const segments = await database.read.select().from(searchSegments)
  return {
    words: rows.filter(({ rowid }) => rowid > 0).length,
    segments: segments.length,
    entries: segments.reduce((sum, { entries }) => sum + entries, 0),
    removed: (await database.read.select().from(searchRemoved)).length,
  }
}
