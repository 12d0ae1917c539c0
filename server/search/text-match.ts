// Compares a query with a real text: whether phrases are in it, and the piece of it that shows the hits.
import type { PlacedWord } from '../lib/placed-words.ts'
import type { QueryWord } from '../lib/words.ts'
import type { Phrase } from './query.ts'

const SNIPPET_CHARACTERS = 220
/** Characters shown before the first hit. */
const LEAD_CHARACTERS = 50

type Range = { from: number; to: number }

const same = (wanted: QueryWord, { word }: PlacedWord): boolean =>
  wanted.prefix ? word.startsWith(wanted.word) : word === wanted.word

/** Whether the words of a phrase follow each other in the text. */
export function hasPhrase(words: readonly PlacedWord[], phrase: Phrase): boolean {
  return words.some((_, at) =>
    phrase.every((wanted, offset) => {
      const word = words[at + offset]
      return word !== undefined && same(wanted, word)
    }),
  )
}

/** The part of a text with most of the wanted words, escaped for HTML, with each hit in `<mark>`. */
export function snippetOf(
  text: string,
  words: readonly PlacedWord[],
  wanted: readonly QueryWord[],
): string {
  const hits = words.flatMap((word) => {
    const match = wanted.find((one) => same(one, word))
    return match === undefined
      ? []
      : [{ from: word.from, to: match.prefix ? word.firstTo : word.to, word: match.word }]
  })
  const start = snippetStart(text, hits)
  const end = Math.min(text.length, start + SNIPPET_CHARACTERS)
  const marked = merged(hits.filter(({ from, to }) => from >= start && to <= end))
  let html = start > 0 ? '…' : ''
  let at = start
  for (const { from, to } of marked) {
    html += `${escaped(text.slice(at, from))}<mark>${escaped(text.slice(from, to))}</mark>`
    at = to
  }
  return `${html}${escaped(text.slice(at, end))}${end < text.length ? '…' : ''}`.trim()
}

/** Where the window begins that has the most different wanted words; the first of several. */
function snippetStart(text: string, hits: readonly (Range & { word: string })[]): number {
  let best: { from: number; count: number } | undefined
  const room = SNIPPET_CHARACTERS - LEAD_CHARACTERS
  let end = 0
  const inside = new Map<string, number>()
  for (const hit of hits) {
    while (end < hits.length && (hits[end]?.to ?? 0) <= hit.from + room) {
      const word = hits[end]?.word ?? ''
      inside.set(word, (inside.get(word) ?? 0) + 1)
      end += 1
    }
    if (best === undefined || inside.size > best.count)
      best = { from: hit.from, count: inside.size }
    const left = (inside.get(hit.word) ?? 1) - 1
    if (left <= 0) inside.delete(hit.word)
    else inside.set(hit.word, left)
  }
  if (best === undefined || best.from <= LEAD_CHARACTERS) return 0
  const earliest = best.from - LEAD_CHARACTERS
  // After a space if there is one, and never inside a surrogate pair.
  const space = text.slice(earliest, best.from).search(/\s/)
  const start = space === -1 ? earliest : earliest + space + 1
  return /[\uDC00-\uDFFF]/.test(text[start] ?? '') ? start + 1 : start
}

function merged(ranges: readonly Range[]): Range[] {
  const result: Range[] = []
  for (const { from, to } of ranges) {
    const last = result.at(-1)
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
    else result.push({ from, to })
  }
  return result
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign).replaceAll(/\s+/g, ' ')
