// Compares a query with the original text: whether it contains the phrases, and which part of it to show.
import { escapeHtml } from '../lib/escape-html.ts'
import type { WordPosition } from '../lib/word-positions.ts'
import {
  commonStart,
  endOfWord,
  isSpaceless,
  isWithinLetters,
  matchesQueryWord,
  type QueryWord,
} from '../lib/words.ts'
import type { Phrase } from './query.ts'

const SNIPPET_CHARACTERS = 220
/** Characters shown before the first hit. */
const LEAD_CHARACTERS = 50

type Range = { from: number; to: number }

const matchesWord = (queried: QueryWord, { word }: WordPosition): boolean =>
  matchesQueryWord(queried, word)

/** Whether the words of a phrase follow each other in the text. */
export function hasPhrase(words: readonly WordPosition[], phrase: Phrase): boolean {
  return words.some((_, index) =>
    phrase.every((queried, offset) => {
      const word = words[index + offset]
      return word !== undefined && matchesWord(queried, word)
    }),
  )
}

/** False only if the words of a phrase do not follow each other in a folded text; faster than `hasPhrase`. */
export function mayHavePhrase(folded: string, phrase: Phrase): boolean {
  // In a text they may have an article, or stand without anything between them.
  if (phrase.some(({ word }) => isWithinLetters(word))) return true
  const [first, second] = phrase.map(({ word }) => (isSpaceless(word) ? word : commonStart(word)))
  if (first === undefined) return true
  const inPairs = isSpaceless(first)
  const firstCharacter = Array.from(first)[0]?.length ?? 0
  for (let index = folded.indexOf(first); index !== -1; index = folded.indexOf(first, index + 1)) {
    if (second === undefined) return true
    // Pairs of characters overlap; anything else is followed by what is between words.
    let next = index + (inPairs ? firstCharacter : first.length)
    if (!inPairs) next = endOfWord(folded, next)
    if (!inPairs || first.length === firstCharacter) {
      GAP.lastIndex = next
      GAP.exec(folded)
      next = GAP.lastIndex
    }
    if (folded.startsWith(second, next)) return true
  }
  return false
}
const GAP = /[^\p{L}\p{N}\p{M}]*/uy

/**
 * The part of a text with the most distinct words of the query, escaped for HTML, with each hit in `<mark>`; and the
 * position of the first of these hits, or else of the snippet.
 */
export function snippetOf(
  text: string,
  words: readonly WordPosition[],
  query: readonly QueryWord[],
): { snippet: string; at: number } {
  const hits = words.flatMap((word) => {
    const match = query.find((one) => matchesWord(one, word))
    return match === undefined
      ? []
      : [{ from: word.from, to: match.prefix ? word.firstTo : word.to, word: match.word }]
  })
  const start = snippetStart(text, hits)
  const end = wholeCharacter(text, Math.min(text.length, start + SNIPPET_CHARACTERS))
  const marked = merged(hits.filter(({ from, to }) => from >= start && to <= end))
  let html = start > 0 ? '…' : ''
  let index = start
  for (const { from, to } of marked) {
    html += `${toHtml(text.slice(index, from))}<mark>${toHtml(text.slice(from, to))}</mark>`
    index = to
  }
  const snippet = `${html}${toHtml(text.slice(index, end))}${end < text.length ? '…' : ''}`.trim()
  return { snippet, at: marked[0]?.from ?? start }
}

/** The start of the first snippet with the most distinct words. */
function snippetStart(text: string, hits: readonly (Range & { word: string })[]): number {
  let best: { from: number; count: number } | undefined
  const length = SNIPPET_CHARACTERS - LEAD_CHARACTERS
  let end = 0
  const counts = new Map<string, number>()
  for (const hit of hits) {
    while (end < hits.length && (hits[end]?.to ?? 0) <= hit.from + length) {
      const word = hits[end]?.word ?? ''
      counts.set(word, (counts.get(word) ?? 0) + 1)
      end += 1
    }
    if (best === undefined || counts.size > best.count)
      best = { from: hit.from, count: counts.size }
    const left = (counts.get(hit.word) ?? 1) - 1
    if (left <= 0) counts.delete(hit.word)
    else counts.set(hit.word, left)
  }
  if (best === undefined || best.from <= LEAD_CHARACTERS) return 0
  const earliest = best.from - LEAD_CHARACTERS
  // After a space if there is one.
  const space = text.slice(earliest, best.from).search(/\s/)
  const start = space === -1 ? earliest : earliest + space + 1
  return wholeCharacter(text, start)
}

/** The position, or the one after it if it is inside a surrogate pair. */
const wholeCharacter = (text: string, index: number): number =>
  /[\uDC00-\uDFFF]/.test(text[index] ?? '') ? index + 1 : index

function merged(ranges: readonly Range[]): Range[] {
  const result: Range[] = []
  for (const { from, to } of ranges) {
    const last = result.at(-1)
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
    else result.push({ from, to })
  }
  return result
}

/** Text for HTML; white space is collapsed, as a browser would. */
const toHtml = (text: string): string => escapeHtml(text).replaceAll(/\s+/g, ' ')
