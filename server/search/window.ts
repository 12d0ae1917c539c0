// Reads a bounded number of the newest matching texts and ranks them: titles first, then everything else.
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import type { FoundText } from '../db/repositories/search.ts'
import type { Store } from '../db/store.ts'
import { wordPositions } from '../lib/word-positions.ts'
import type { UserId } from '../protocol/ids.ts'
import type { Search } from './filter.ts'
import type { SearchQuery } from './query.ts'
import { relevanceOf } from './relevance.ts'
import { hasPhrase } from './text-match.ts'

/** Texts that are ranked together. Matches are newest first until then, so no query reads all of its matches. */
const MAX_TITLES = 100
const MAX_ENTRIES = 100
const MAX_PASSAGES = 50
/** Comparing texts gives way to other requests after this time. */
const SLICE_MS = 4

/** Where a window begins, in titles or other entries and in passages: `null` is the newest, 0 the end. */
export const Window = z.tuple([z.enum(['titles', 'texts']), z.int().nullable(), z.int().nullable()])
export type Window = z.infer<typeof Window>

/** The rank of a text in its window: a higher level first, then the newer one. */
export const Rank = z.tuple([z.int(), z.int(), z.enum(['entry', 'passage']), z.int()])
export type Rank = z.infer<typeof Rank>
export type RankedText = { found: FoundText; rank: Rank }

export function compareRanks(a: Rank, b: Rank): number {
  if (a[0] !== b[0]) return b[0] - a[0]
  if (a[1] !== b[1]) return b[1] - a[1]
  return a[2] === b[2] ? b[3] - a[3] : a[2] < b[2] ? -1 : 1
}

/** `pinned` reads the same window again, whatever was added meanwhile; `next` is null when there are no more matches. */
export type ReadWindow = { texts: RankedText[]; pinned: Window; next: Window | null }

/** @param needed the number of words that a text must contain. */
export async function readWindow(
  store: Store['search'],
  userId: UserId,
  query: SearchQuery,
  search: Search,
  needed: number,
  window: Window,
): Promise<ReadWindow> {
  const filter = { ...search.filter, needed }
  const [stage, before, beforePassage] = window
  if (stage === 'titles') {
    const titles = search.titles
      ? await store.titles(userId, filter, { after: before, limit: MAX_TITLES })
      : []
    const [newest, last] = [titles[0], titles.at(-1)]
    const isFull = titles.length === MAX_TITLES && last !== undefined
    return {
      texts: await ranked(titles, query),
      pinned: newest === undefined ? window : [stage, newest.rowid - 1, null],
      next: isFull ? [stage, last.rowid, null] : ['texts', null, null],
    }
  }
  const [entries, passages] = await Promise.all([
    filter.kinds.length === 0 || before === 0
      ? []
      : store.messages(userId, filter, { before, limit: MAX_ENTRIES }),
    !search.documents || beforePassage === 0
      ? []
      : store.passages(userId, filter, { before: beforePassage, limit: MAX_PASSAGES }),
  ])
  const ends: [number, number] = [endOf(entries, MAX_ENTRIES), endOf(passages, MAX_PASSAGES)]
  return {
    texts: await ranked([...entries, ...passages], query),
    pinned: [stage, startOf(entries), startOf(passages)],
    next: ends[0] === 0 && ends[1] === 0 ? null : [stage, ...ends],
  }
}

const startOf = (found: readonly FoundText[]): number =>
  found[0] === undefined ? 0 : found[0].rowid + 1
const endOf = (found: readonly FoundText[], limit: number): number =>
  found.length < limit ? 0 : (found.at(-1)?.rowid ?? 0)

/** The texts with the wanted phrases and without the others, best first. */
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
    texts.push({
      found: one,
      rank: [
        relevanceOf(one.text, query.words),
        one.createdAt.getTime(),
        one.document === undefined ? 'entry' : 'passage',
        one.document === undefined ? Math.abs(one.rowid) : one.rowid,
      ],
    })
  }
  return texts.sort((a, b) => compareRanks(a.rank, b.rank))
}

function hasWantedPhrases(text: string, { phrases, withoutPhrases }: SearchQuery): boolean {
  const words = wordPositions(text)
  return (
    phrases.every((phrase) => hasPhrase(words, phrase)) &&
    !withoutPhrases.some((phrase) => hasPhrase(words, phrase))
  )
}
