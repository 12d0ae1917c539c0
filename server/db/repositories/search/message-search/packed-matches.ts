// Finds entries in the packed part of the search index on PostgreSQL, newest first.
import { setImmediate } from 'node:timers/promises'
import { desc, eq, sql } from 'drizzle-orm'
import type { QueryWord } from '../../../../lib/words.ts'
import type { UserId } from '../../../../protocol/ids.ts'
import type { Database } from '../../../database.ts'
import { EVERY_ENTRY, listIn, unpackEntries, wordNumber } from '../../../packed-words/lists.ts'
import { inAll, inAny, inAtLeast, without } from '../../../packed-words/sets.ts'
import { wordsWith } from '../../../packed-words/vocabulary.ts'
import {
  ENTRIES_PER_MESSAGE,
  formsOf,
  type WordCondition,
  widerBeginningsOf,
} from '../../../search-entries.ts'
import { USER } from '../statements.ts'

/** Entries of the segments that are read first: enough for frequent words. Each later group has this many times as many. */
const FIRST_ENTRIES = 8_192
const MORE_TIMES = 8
/** Comparing lists yields to other requests after this time. */
const SLICE_MS = 4

type Segment = { id: number; firstRow: number; lastRow: number; entries: number }
/** The lists of a segment's words, by their numbers. */
type Lists = ReadonlyMap<number, Buffer>
/** The words of a segment with each beginning that is looked for. */
type Beginnings = ReadonlyMap<string, readonly string[]>

/** Finds only what `createSegments` has packed; the rest is in the table of words. */
export function createPackedMatches({ readOffThread, tables }: Database) {
  const { searchSegments, searchPages, searchVocabulary } = tables
  const segmentsOf = readOffThread
    .select({
      id: searchSegments.id,
      firstRow: searchSegments.firstRow,
      lastRow: searchSegments.lastRow,
      entries: searchSegments.entries,
    })
    .from(searchSegments)
    .where(eq(searchSegments.userId, USER))
    .orderBy(desc(searchSegments.lastRow), desc(searchSegments.id))
    .prepare('segments of user')
  // The first page of a segment begins below all words, so there is always a page that would contain the word.
  const pagesOf = readOffThread
    .select({
      segment: sql`wanted.segment`.mapWith(Number),
      word: sql`wanted.word`.mapWith(Number),
      first: sql`page.first`.mapWith(Number),
      data: sql<Buffer>`page.data`,
    })
    .from(
      sql`unnest(cast(${sql.placeholder('segments')} as bigint[]),
        cast(${sql.placeholder('words')} as bigint[])) as wanted (segment, word)
      cross join lateral (select first, data from ${searchPages}
        where segment_id = wanted.segment and first <= wanted.word order by first desc limit 1) as page`,
    )
    .prepare('pages of words')

  // The page before the first one with the beginning may end with words that have it.
  const vocabularyOf = readOffThread
    .select({
      segment: sql`wanted.segment`.mapWith(Number),
      beginning: sql<string>`wanted.beginning`,
      first: sql<Buffer>`page.first`,
      data: sql<Buffer>`page.data`,
    })
    .from(
      sql`(select segment, beginning, convert_to(beginning, 'UTF8') as bytes
        from unnest(cast(${sql.placeholder('segments')} as bigint[])) as segment,
          unnest(cast(${sql.placeholder('beginnings')} as text[])) as beginning) as wanted
      cross join lateral (select first, data from ${searchVocabulary}
        where segment_id = wanted.segment
          and first < wanted.bytes || decode('ff', 'hex')
          and first >= (select first from ${searchVocabulary}
            where segment_id = wanted.segment and first <= wanted.bytes
            order by first desc limit 1)
        order by first) as page`,
    )
    .prepare('words of segments')

  /** Segments of earlier versions have no words yet: only whole words are found there until they are added. */
  async function readBeginnings(
    segments: readonly Segment[],
    beginnings: readonly string[],
  ): Promise<ReadonlyMap<number, Beginnings>> {
    const found = new Map<number, Map<string, string[]>>(segments.map(({ id }) => [id, new Map()]))
    if (beginnings.length === 0) return found
    const ids = segments.map(({ id }) => id)
    const pages = await vocabularyOf.execute({ segments: ids, beginnings })
    let since = performance.now()
    for (const { segment, beginning, ...page } of pages) {
      const words = found.get(segment)?.get(beginning) ?? []
      found.get(segment)?.set(beginning, [...words, ...wordsWith(beginning, page)])
      if (performance.now() - since < SLICE_MS) continue
      await setImmediate()
      since = performance.now()
    }
    return found
  }

  /** Null when a segment was merged since it was listed. */
  async function readLists(
    segments: readonly Segment[],
    wordsIn: (segment: Segment) => readonly number[],
  ): Promise<Map<number, Lists> | null> {
    const wanted = segments.flatMap((segment) =>
      wordsIn(segment).map((word) => ({ segment: segment.id, word })),
    )
    const pages = await pagesOf.execute({
      segments: wanted.map(({ segment }) => segment),
      words: wanted.map(({ word }) => word),
    })
    if (pages.length < wanted.length) return null
    const found = new Map<number, Map<number, Buffer>>(segments.map(({ id }) => [id, new Map()]))
    let since = performance.now()
    for (const { segment, word, first, data } of pages) {
      const list = listIn({ first, data }, word)
      if (list !== undefined) found.get(segment)?.set(word, list)
      // A beginning may stand for thousands of words.
      if (performance.now() - since < SLICE_MS) continue
      await setImmediate()
      since = performance.now()
    }
    return found
  }

  /**
   * Row ids of the user's entries that meet the condition, in descending order, some at a time: those before `before` and
   * after `after`. The lists of one group of segments are read at a time, when they are needed. Read it after the rows of
   * words: an entry that is packed meanwhile is then in both rather than in neither.
   */
  return async function* matches(
    userId: UserId,
    condition: WordCondition,
    before: number,
    after: number,
  ): AsyncGenerator<number[], undefined> {
    const beginnings = beginningsIn(condition)
    const segments = (await segmentsOf.execute({ userId })).filter(
      ({ firstRow, lastRow }) =>
        firstRow * ENTRIES_PER_MESSAGE < before && (lastRow + 1) * ENTRIES_PER_MESSAGE > after,
    )
    /** Entries held back until the next segment is read, which may contain newer ones. */
    let held: number[] = []
    let since = performance.now()
    for (let from = 0, wanted = FIRST_ENTRIES; from < segments.length; wanted *= MORE_TIMES) {
      const group = segments.slice(from, groupEnd(segments, from, wanted))
      const known = await readBeginnings(group, beginnings)
      const numbersIn = ({ id }: Segment) => numbersOf(known.get(id) ?? new Map())
      const lists = await readLists(group, (segment) => wordsOf(condition, numbersIn(segment)))
      if (lists === null) {
        const next = ((segments[from]?.lastRow ?? 0) + 1) * ENTRIES_PER_MESSAGE
        yield* matches(userId, condition, Math.min(before, next), after)
        return
      }
      for (const [index, segment] of group.entries()) {
        const own = lists.get(segment.id) ?? new Map()
        const found = matchesIn(segment, own, condition, numbersIn(segment))
        held = descending(
          held,
          found.filter((rowid) => rowid < before && rowid > after),
        )
        const unread = (segments[from + index + 1]?.lastRow ?? -1) + 1
        const safe = held.findIndex((rowid) => rowid < unread * ENTRIES_PER_MESSAGE)
        const some = safe === -1 ? held : held.slice(0, safe)
        held = safe === -1 ? [] : held.slice(safe)
        if (some.length > 0) yield some
        if (performance.now() - since < SLICE_MS) continue
        await setImmediate()
        since = performance.now()
      }
      from += group.length
    }
  }
}

/** What words begin with that a condition looks for. */
const beginningsIn = ({ words, needed, isWide = false }: WordCondition): string[] =>
  needed > 0 && isWide ? [...new Set(words.flatMap(widerBeginningsOf))] : []

/** The numbers of the words of a segment that a word of a query stands for. */
type NumbersOf = (word: QueryWord, isWide: boolean) => number[]

/** The numbers of the words that a condition compares. */
const wordsOf = (
  { words, needed, without: groups, isWide = false }: WordCondition,
  numbersOf: NumbersOf,
): number[] => [
  ...new Set([
    ...(needed === 0 ? [EVERY_ENTRY] : words.flatMap((word) => numbersOf(word, isWide))),
    ...groups.flat().flatMap((word) => numbersOf(word, false)),
  ]),
]

/** Lists are found by whole words, so beginnings are looked up in the words of the segment. */
const numbersOf =
  (beginnings: Beginnings): NumbersOf =>
  (word, isWide) => {
    const wider = isWide ? widerBeginningsOf(word).flatMap((one) => beginnings.get(one) ?? []) : []
    return [...new Set([...formsOf(word), ...wider])].map(wordNumber)
  }

/** Where the segments end that are read together with the one at `from`: at least `wanted` entries. */
function groupEnd(segments: readonly Segment[], from: number, wanted: number): number {
  let entries = 0
  let end = from
  for (; end < segments.length && entries < wanted; end += 1) entries += segments[end]?.entries ?? 0
  return end
}

/** The entries of a segment that meet a condition, ascending. */
function matchesIn(
  { firstRow }: Segment,
  lists: Lists,
  condition: WordCondition,
  numbersOf: NumbersOf,
): number[] {
  const entriesOf = (word: number): number[] => {
    const list = lists.get(word)
    return list === undefined ? [] : unpackEntries(list, firstRow)
  }
  const { needed, words, without: groups, isWide = false } = condition
  /** The entries with any form of a word. */
  const entriesWith = (numbers: readonly number[]): number[] => {
    const [only, ...others] = numbers.filter((number) => lists.has(number)).map(entriesOf)
    if (only === undefined || others.length === 0) return only ?? []
    return inAny([only, ...others])
  }
  const wanted = words.map((word) => numbersOf(word, isWide))
  // If too few of the words are in the segment, nothing has to be unpacked.
  if (needed > 0 && wanted.filter((forms) => forms.some((one) => lists.has(one))).length < needed)
    return []
  let found = needed === 0 ? entriesOf(EVERY_ENTRY) : inAtLeast(wanted.map(entriesWith), needed)
  for (const group of groups) {
    if (found.length === 0) break
    const excluded = inAll(group.map((word) => entriesWith(numbersOf(word, false))))
    found = without(found, excluded)
  }
  return found
}

/** A descending and an ascending list as one descending list, each number once. */
function descending(held: readonly number[], found: readonly number[]): number[] {
  if (held.length === 0) return found.toReversed()
  const result: number[] = []
  let position = 0
  for (let index = found.length - 1; index >= 0; index -= 1) {
    const next = found[index] ?? 0
    for (; (held[position] ?? -1) >= next; position += 1)
      if (held[position] !== next) result.push(held[position] ?? 0)
    result.push(next)
  }
  for (; position < held.length; position += 1) result.push(held[position] ?? 0)
  return result
}
