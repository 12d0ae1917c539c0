// How well a text answers a query: how often the words occur for its length, and how close they are to each other.
import {
  commonStart,
  foldText,
  isSpaceless,
  isWithinLetters,
  type QueryWord,
  wholeWordAt,
  withoutArticle,
} from '../lib/words.ts'

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
  const found = words.map((queried, at) => occurrencesOf(folded, queried, at))
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
    let at = folded.indexOf(needle);
    at !== -1 && occurrences.length < MAX_OCCURRENCES;
    at = folded.indexOf(needle, at + needle.length)
  ) {
    const isBeginning = isOpen && typed !== undefined && folded.startsWith(typed, at)
    const to = anywhere || isBeginning ? at + needle.length : wholeWordAt(folded, at, word)
    if (to !== null) occurrences.push({ from: at, to, word: index })
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
