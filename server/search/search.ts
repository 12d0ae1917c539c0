// Searches everything that a user has: full matches first; if there are none, matches of most words.
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { decodeCursor, encodeCursor } from '../db/cursor.ts'
import type { FoundText } from '../db/repositories/search/statements.ts'
import type { SearchKind } from '../db/search-entries.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import { wordPositions } from '../lib/word-positions.ts'
import type { SearchType } from '../protocol/conversations/search.ts'
import type { Page } from '../protocol/envelope.ts'
import type { UserId } from '../protocol/ids.ts'
import { type SearchScope, toSearch } from './filter.ts'
import type { IndexProgress } from './progress.ts'
import { parseQuery, type SearchQuery } from './query.ts'
import { snippetOf } from './text-match.ts'
import {
  compareRanks,
  createWindows,
  FIRST_WINDOW,
  Rank,
  type RankedText,
  Window,
} from './window.ts'

// Makes the snippet of a tool call or its result readable: JSON without its punctuation.

/** What every result begins and ends with. */
const ENVELOPE =
  /\{&quot;success&quot;:(?:true|false),&quot;(?:data|error)&quot;:(?:&quot;)?|,&quot;execution_time&quot;:[\d.]+\}/g
/** Adjacent punctuation. It belongs to the JSON if it contains a quote and more; alone, to the code or prose in a value. */
const PUNCTUATION = /(?:&quot;|[{}[\]:,])+/g

/**
 * `{"city":"<mark>Oslo</mark>","days":[1,2]}` as `city: <mark>Oslo</mark>, days: 1,2`.
 * @param html a snippet from `snippetOf`, which may begin and end anywhere in the JSON.
 */
export const readableToolSnippet = (html: string): string =>
  html
    .replaceAll(ENVELOPE, ' ')
    .replaceAll(PUNCTUATION, (found) => {
      if (!found.includes('&quot;') || found === '&quot;') return found
      return found.includes(':') ? ': ' : found.includes(',') ? ', ' : ' '
    })
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([,:…])/g, '$1')
    .replace(/^[\s,]+|[\s,}\]]+$/g, '')

/** One page of a search. */
export type SearchRequest = SearchScope & {
  q: string
  limit: number
  cursor?: string | undefined
}
/** `page` is that of the file or document that contains the words. */
export type Hit = Omit<FoundText, 'text'> & {
  type: SearchType
  snippet: string
  page: number | undefined
}

const TYPE_OF: Record<SearchKind, SearchType> = {
  text: 'message',
  step: 'message',
  tool: 'tool',
  file: 'file',
}

/** Maximum number of windows per page: few of the texts with the words of a phrase may contain the phrase. */
const MAX_WINDOWS = 10

const LONG_TEXT_CHARACTERS = 2_000

/** User, query, whether most words suffice, the window, and the rank of the last hit in it. */
const Cursor = z.tuple([
  z.string(),
  z.string(),
  z.enum(['all', 'wide', 'most']),
  Window,
  Rank.nullable(),
])
/** `wide`: all words, also as parts of compounds and as beginnings. */
type Position = { needed: 'all' | 'wide' | 'most'; window: Window; after: Rank | null }

/** The search over a user's conversations and documents. */
export type Search = ReturnType<typeof createSearch>

/** `progress` reports how much of the older texts is indexed. */
export function createSearch(
  store: Pick<Store, 'search' | 'projects' | 'conversations'>,
  progress: IndexProgress,
) {
  return {
    /** Share of the stored messages that can be found already, from 0 to 1. */
    indexedShare: progress.share,

    /** @throws AppError `cursor_invalid` if the cursor belongs to another user or query. */
    async find(userId: UserId, request: SearchRequest): Promise<Page<Hit>> {
      const { q, cursor, limit, ...scope } = request
      const query = parseQuery(q)
      const identity = createHash('sha256')
        .update(JSON.stringify([q, scope]))
        .digest('base64url')
        .slice(0, 16)
      const position = cursor === undefined ? null : readCursor(cursor, userId, identity)
      const search = await toSearch(store, userId, query, await progress.characters(), scope)
      if (search === null) return { items: [], nextCursor: null, hasMore: false }
      const count = query.words.length
      const most = query.phrases.length > 0 ? count : Math.ceil((count * 2) / 3)

      /** The texts of one page, in order, and where the next page begins; null at the end. */
      async function read(
        from: Position,
      ): Promise<{ texts: RankedText[]; next: Omit<Position, 'needed'> | null }> {
        if (search === null) return { texts: [], next: null }
        const texts: RankedText[] = []
        let window: Window | null = from.window
        let { after } = from
        const readWindow = createWindows(store.search, userId, query, search, {
          needed: from.needed === 'most' ? most : count,
          isWide: from.needed === 'wide',
        })
        for (let windows = 0; windows < MAX_WINDOWS && window !== null; windows += 1) {
          const found = await readWindow(window)
          for (const text of found.texts) {
            if (after !== null && compareRanks(text.rank, after) <= 0) continue
            if (texts.length === limit) return { texts, next: { window: found.pinned, after } }
            texts.push(text)
            after = text.rank
          }
          window = found.next
          after = null
        }
        return { texts, next: window === null ? null : { window, after } }
      }

      let needed = position?.needed ?? 'all'
      let { texts, next } = await read(position ?? { needed, window: FIRST_WINDOW, after: null })
      const isShort = position === null && next === null && texts.length < limit
      if (isShort && query.words.some(({ typed }) => typed !== undefined)) {
        const wider = await read({ needed: 'wide', window: FIRST_WINDOW, after: null })
        if (wider.texts.length > texts.length) {
          needed = 'wide'
          ;({ texts, next } = wider)
        }
      }
      if (position === null && texts.length === 0 && next === null && most < count) {
        needed = 'most'
        ;({ texts, next } = await read({ needed, window: FIRST_WINDOW, after: null }))
      }
      const items: Hit[] = []
      for (const { found } of texts) {
        // Finding the words in a long text takes up to some milliseconds.
        if (found.text.length > LONG_TEXT_CHARACTERS) await setImmediate()
        items.push(await toHit(store.search, found, query))
      }
      return {
        items,
        hasMore: next !== null,
        nextCursor:
          next === null ? null : encodeCursor([userId, identity, needed, next.window, next.after]),
      }
    },
  }
}

function readCursor(cursor: string, userId: UserId, identity: string): Position {
  const [user, query, needed, window, after] = decodeCursor(Cursor, cursor)
  if (user !== userId || query !== identity) throw appError('cursor_invalid')
  return { needed, window, after }
}

async function toHit(
  store: Pick<Store['search'], 'textBefore'>,
  { text, ...found }: FoundText,
  query: SearchQuery,
): Promise<Hit> {
  const { snippet, at } = snippetOf(text, wordPositions(text), query.words)
  const { message, document } = found
  if (document !== undefined)
    return { ...found, type: 'document', snippet, page: document.page ?? undefined }
  if (message === undefined) return { ...found, type: 'title', snippet, page: undefined }
  const page = message.hasPages
    ? (lastPage(text.slice(0, at)) ?? lastPage(await store.textBefore(message.id, found.rowid)))
    : undefined
  const shown = message.kind === 'tool' ? readableToolSnippet(snippet) : snippet
  return { ...found, type: TYPE_OF[message.kind], snippet: shown, page }
}

/** The number in the last line that marks a page (see `readWholeText`). */
function lastPage(text: string): number | undefined {
  const marks = [...text.matchAll(/^\[Page (\d{1,6})\]$/gm)]
  const number = marks.at(-1)?.[1]
  return number === undefined ? undefined : Number(number)
}
