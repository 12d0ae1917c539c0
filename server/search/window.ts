// Reads a bounded number of the newest matching texts and ranks them.
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import type { FoundText } from '../db/repositories/search/statements.ts'
import type { WordCondition } from '../db/search-entries.ts'
import type { Store } from '../db/store.ts'
import { wordPositions } from '../lib/word-positions.ts'
import {
  commonStart,
  foldText,
  isSpaceless,
  isWithinLetters,
  type QueryWord,
  wholeWordAt,
  withoutArticle,
} from '../lib/words.ts'
import type { UserId } from '../protocol/ids.ts'
import type { Search } from './filter.ts'
import type { SearchQuery } from './query.ts'
import { hasPhrase, mayHavePhrase } from './text-match.ts'

// How well a text answers a query: how often the words occur for its length, and how close they are to each other.

/** Occurrences of a word that count. */
const MAX_OCCURRENCES = 20
/** The usual saturation and length constants of BM25, and the length that counts as average. */
const SATURATION = 1.2
const LENGTH_WEIGHT = 0.75
const AVERAGE_CHARACTERS = 1_000
/** Maximum number of characters between words that are near each other. */
const NEAR_CHARACTERS = 60

/** Levels of frequency and nearness, which are added. Among texts of one level, the newer one comes first. */
const FREQUENCY_LEVELS = 4
const NEARNESS_LEVELS = 3
export const BEST_LEVEL = FREQUENCY_LEVELS + NEARNESS_LEVELS

type Occurrence = { from: number; to: number; word: number }

/** From 0 to `BEST_LEVEL`. Coarse on purpose, so that a slightly better text does not outrank a newer one. */
export function relevanceOf(text: string, words: readonly QueryWord[]): number {
  if (words.length === 0) return 0
  const folded = foldText(text)
  const found = words.map((queried, index) => occurrencesOf(folded, queried, index))
  const norm = 1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * folded.length) / AVERAGE_CHARACTERS
  const frequency =
    found.reduce((sum, { length }) => sum + length / (length + SATURATION * norm), 0) / words.length
  return Math.round(frequency * FREQUENCY_LEVELS) + nearnessOf(found.flat(), words)
}

/** Where a folded text contains a word, at most `MAX_OCCURRENCES` of them. */
function occurrencesOf(
  folded: string,
  { word, prefix, typed, isOpen = false }: QueryWord,
  index: number,
): Occurrence[] {
  const occurrences: Occurrence[] = []
  const anywhere = prefix || isSpaceless(word) || isWithinLetters(word)
  const needle = anywhere ? withoutArticle(word) : commonStart(word)
  for (
    let position = folded.indexOf(needle);
    position !== -1 && occurrences.length < MAX_OCCURRENCES;
    position = folded.indexOf(needle, position + needle.length)
  ) {
    const isBeginning = isOpen && typed !== undefined && folded.startsWith(typed, position)
    const to =
      anywhere || isBeginning ? position + needle.length : wholeWordAt(folded, position, word)
    if (to !== null) occurrences.push({ from: position, to, word: index })
  }
  return occurrences
}

/** Adjacent, near each other, or anywhere in the text. A single word is near itself. */
function nearnessOf(occurrences: Occurrence[], words: readonly QueryWord[]): number {
  const wanted = new Set(occurrences.map(({ word }) => word)).size
  if (wanted < words.length) return 0
  if (words.length === 1) return NEARNESS_LEVELS
  const length = words.reduce((sum, { word }) => sum + word.length, 0)
  const span = smallestSpan(
    occurrences.toSorted((a, b) => a.from - b.from),
    wanted,
  )
  if (span <= length + 2 * words.length) return NEARNESS_LEVELS
  if (span <= length + NEAR_CHARACTERS) return 2
  return span <= length + 5 * NEAR_CHARACTERS ? 1 : 0
}

/** Characters of the shortest piece with all words. */
function smallestSpan(occurrences: readonly Occurrence[], wanted: number): number {
  const counts = new Map<number, number>()
  let best = Number.POSITIVE_INFINITY
  let first = 0
  for (const { to, word } of occurrences) {
    counts.set(word, (counts.get(word) ?? 0) + 1)
    for (let start = occurrences[first]; start !== undefined && counts.size === wanted; ) {
      best = Math.min(best, to - start.from)
      const left = (counts.get(start.word) ?? 1) - 1
      if (left === 0) counts.delete(start.word)
      else counts.set(start.word, left)
      first += 1
      start = occurrences[first]
    }
  }
  return best
}

/** Texts that are ranked together. Until then, matches are newest first, so that no query reads all of its matches. */
const MAX_TITLES = 100
const MAX_ENTRIES = 100
const MAX_PASSAGES = 50
/** An import stores older messages after newer ones, in any order. Where that shows, this many are ranked together. */
const MAX_UNORDERED_ENTRIES = 1_000
/** Comparing texts yields to other requests after this time. */
const SLICE_MS = 4

/** Where a window begins, in titles, other entries and passages: `null` is the newest, 0 the end. */
export const Window = z.tuple([z.int().nullable(), z.int().nullable(), z.int().nullable()])
/** Where a window begins, as three positions: newest first, `null` is before everything. */
export type Window = z.infer<typeof Window>

export const FIRST_WINDOW: Window = [null, null, null]

/** The rank of a text in its window: titles first, then a higher level of relevance, then the newer one. */
export const Rank = z.tuple([z.int(), z.int(), z.enum(['title', 'entry', 'passage']), z.int()])
/** What results are ordered by. */
export type Rank = z.infer<typeof Rank>
/** A found text with its rank. */
export type RankedText = { found: FoundText; rank: Rank }

/** Negative when `a` comes before `b` in the results. */
export function compareRanks(a: Rank, b: Rank): number {
  if (a[0] !== b[0]) return b[0] - a[0]
  if (a[1] !== b[1]) return b[1] - a[1]
  return a[2] === b[2] ? b[3] - a[3] : a[2] < b[2] ? -1 : 1
}

/**
 * `pinned` reads the same window again, whatever was added in the meantime. `next` is null if there are no more matches.
 */
export type ReadWindow = { texts: RankedText[]; pinned: Window; next: Window | null }

/** Reads the windows of one search, each of which follows the one before it. */
export function createWindows(
  store: Store['search'],
  userId: UserId,
  query: SearchQuery,
  search: Search,
  which: Required<Pick<WordCondition, 'needed' | 'isWide'>>,
): (window: Window) => Promise<ReadWindow> {
  const filter = { ...search.filter, ...which }
  const messages = store.messages(userId, filter)
  /** The next entries, and how many were asked for. */
  async function readEntries(before: number | null) {
    const entries = await messages({ before, limit: MAX_ENTRIES })
    return entries.length < MAX_ENTRIES || isNewestFirst(entries)
      ? { entries, entryLimit: MAX_ENTRIES }
      : {
          entries: await messages({ before, limit: MAX_UNORDERED_ENTRIES }),
          entryLimit: MAX_UNORDERED_ENTRIES,
        }
  }
  return async ([title, entry, passage]) => {
    // At once: none of these waits for another.
    const [titles, { entries, entryLimit }, passages] = await Promise.all([
      !search.titles || title === 0
        ? []
        : store.titles(userId, filter, { before: title, limit: MAX_TITLES }),
      filter.kinds.length === 0 || entry === 0
        ? { entries: [], entryLimit: MAX_ENTRIES }
        : readEntries(entry),
      !search.documents || passage === 0
        ? []
        : store.passages(userId, filter, { before: passage, limit: MAX_PASSAGES }),
    ])
    const next: Window = [
      endOf(titles, MAX_TITLES),
      endOf(entries, entryLimit),
      endOf(passages, MAX_PASSAGES),
    ]
    return {
      texts: await ranked([...titles, ...entries, ...passages], query),
      // The row ids of titles count down.
      pinned: [startOf(titles, -1), startOf(entries, 1), startOf(passages, 1)],
      next: next.every((end) => end === 0) ? null : next,
    }
  }
}

const isNewestFirst = (found: readonly FoundText[]): boolean =>
  found.every(
    ({ createdAt }, index) =>
      index === 0 || createdAt <= (found[index - 1]?.createdAt ?? createdAt),
  )

const startOf = (found: readonly FoundText[], step: number): number =>
  found[0] === undefined ? 0 : found[0].rowid + step
const endOf = (found: readonly FoundText[], limit: number): number =>
  found.length < limit ? 0 : (found.at(-1)?.rowid ?? 0)

/** The texts with the required phrases and without the excluded ones, best first. */
async function ranked(found: readonly FoundText[], query: SearchQuery): Promise<RankedText[]> {
  const hasPhrases = query.phrases.length + query.withoutPhrases.length > 0
  const texts: RankedText[] = []
  let since = performance.now()
  for (const one of found) {
    if (performance.now() - since > SLICE_MS) {
      await setImmediate()
      since = performance.now()
    }
    if (hasPhrases && !hasWantedPhrases(one.text, query)) continue
    const source = one.document ? 'passage' : one.message ? 'entry' : 'title'
    const level = relevanceOf(one.text, query.words) + (source === 'title' ? BEST_LEVEL + 1 : 0)
    texts.push({ found: one, rank: [level, one.createdAt.getTime(), source, Math.abs(one.rowid)] })
  }
  return texts.sort((a, b) => compareRanks(a.rank, b.rank))
}

function hasWantedPhrases(text: string, { phrases, withoutPhrases }: SearchQuery): boolean {
  // Finding every word of a text costs much more than looking for some.
  const folded = foldText(text)
  if (!phrases.every((phrase) => mayHavePhrase(folded, phrase))) return false
  const unwanted = withoutPhrases.filter((phrase) => mayHavePhrase(folded, phrase))
  if (phrases.length + unwanted.length === 0) return true
  const words = wordPositions(text)
  return (
    phrases.every((phrase) => hasPhrase(words, phrase)) &&
    !unwanted.some((phrase) => hasPhrase(words, phrase))
  )
}
