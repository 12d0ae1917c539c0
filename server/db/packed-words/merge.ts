// Merges several segments of the search index, without the messages that were deleted.
import { setImmediate } from 'node:timers/promises'
import { createTurns } from '../../lib/turns.ts'
import { ENTRIES_PER_MESSAGE, hasBeginning } from '../search-entries.ts'
import {
  EVERY_ENTRY,
  type ListPage,
  listsIn,
  packEntries,
  pagesOf,
  unpackEntries,
  wordNumber,
} from './lists.ts'
import { type VocabularyPage, vocabularyPages, wordsIn } from './vocabulary.ts'

/** Merging yields to other work after this time. */
const SLICE_MS = 4
/** Words that are looked up between two looks at the time. */
const WORDS_AT_ONCE = 1_000

/** A part of the index of one user: the pages of its lists, in order. */
export interface SourceSegment {
  /** The row of the first message in it, from which its lists count. */
  firstRow: number
  pages: readonly ListPage[]
  /** Empty in a segment of an earlier version. */
  vocabulary: readonly VocabularyPage[]
}

/** A segment of the index after merging: its number of entries, the rows of its first and last message, its pages, its words. */
export interface MergedSegment {
  entries: number
  firstRow: number
  lastRow: number
  pages: ListPage[]
  vocabulary: VocabularyPage[]
}

/** The row of the message that an entry of the index belongs to. */
export const messageRow = (rowid: number): number => Math.floor(rowid / ENTRIES_PER_MESSAGE)

function* listsOf(pages: readonly ListPage[]): Generator<[number, Buffer]> {
  for (const page of pages) yield* listsIn(page)
}

/** Word by word, the entries of all segments. */
function* mergedLists(
  segments: readonly SourceSegment[],
  isWanted: (rowid: number) => boolean,
): Generator<[number, number[]]> {
  const readers = segments.map(({ firstRow, pages }) => {
    const lists = listsOf(pages)
    return { firstRow, lists, next: lists.next().value }
  })
  for (;;) {
    const number = Math.min(...readers.map(({ next }) => next?.[0] ?? Number.POSITIVE_INFINITY))
    if (number === Number.POSITIVE_INFINITY) return
    const rowids: number[] = []
    for (const reader of readers) {
      if (reader.next?.[0] !== number) continue
      for (const rowid of unpackEntries(reader.next[1], reader.firstRow))
        if (isWanted(rowid)) rowids.push(rowid)
      reader.next = reader.lists.next().value
    }
    if (rowids.length > 0) yield [number, ascending(rowids)]
  }
}

/** Sorts row ids and removes duplicates. Segments mostly follow each other, so there is usually nothing to do. */
function ascending(rowids: number[]): number[] {
  if (rowids.every((rowid, index) => index === 0 || rowid > (rowids[index - 1] ?? 0))) return rowids
  return [...new Set(rowids)].sort((a, b) => a - b)
}

/**
 * Packs lists in the order of their words' numbers; the first is the list of every entry. @param words those that have lists, and
 * perhaps others; null if they are not known.
 */
export async function packSegment(
  lists: Iterable<readonly [number, readonly number[]]>,
  words: Iterable<string> | null,
): Promise<MergedSegment | null> {
  let every: readonly number[] = []
  let firstRow = 0
  const numbers = new Set<number>()
  function* packed(): Generator<[number, number[]]> {
    for (const [number, rowids] of lists) {
      numbers.add(number)
      if (number === EVERY_ENTRY) {
        every = rowids
        firstRow = messageRow(rowids[0] ?? 0)
      }
      yield [number, packEntries(rowids, firstRow)]
    }
  }
  const pages: ListPage[] = []
  let since = performance.now()
  for (const page of pagesOf(packed())) {
    pages.push(page)
    if (performance.now() - since < SLICE_MS) continue
    await setImmediate()
    since = performance.now()
  }
  const last = every.at(-1)
  if (last === undefined) return null
  const vocabulary = words === null ? [] : await vocabularyOf(words, numbers)
  return { entries: every.length, firstRow, lastRow: messageRow(last), pages, vocabulary }
}

/** The pages of those words that have lists and can be found by their beginnings. */
export async function vocabularyOf(
  words: Iterable<string>,
  numbers: ReadonlySet<number>,
): Promise<VocabularyPage[]> {
  const turn = createTurns()
  const wanted = new Set<string>()
  let looked = 0
  for (const word of words) {
    if (hasBeginning(word) && numbers.has(wordNumber(word))) wanted.add(word)
    looked += 1
    if (looked % WORDS_AT_ONCE === 0) await turn()
  }
  return await vocabularyPages(wanted)
}

/** Merges segments into one; null if it would be empty. */
export async function mergeSegments(
  segments: readonly SourceSegment[],
  isWanted: (rowid: number) => boolean,
): Promise<MergedSegment | null> {
  const isKnown = segments.every(({ vocabulary }) => vocabulary.length > 0)
  const pages = segments.flatMap(({ vocabulary }) => vocabulary)
  const words = isKnown ? await wordsOn(pages) : null
  return await packSegment(mergedLists(segments, isWanted), words)
}

async function wordsOn(pages: readonly VocabularyPage[]): Promise<Set<string>> {
  const words = new Set<string>()
  let since = performance.now()
  for (const page of pages) {
    for (const word of wordsIn(page)) words.add(word)
    if (performance.now() - since < SLICE_MS) continue
    await setImmediate()
    since = performance.now()
  }
  return words
}
