// Searches everything a user has: full matches first, and without any, matches of most words.
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { decodeCursor, encodeCursor } from '../db/cursor.ts'
import { foldCase } from '../db/fragments.ts'
import type { FoundText, MessageFilter } from '../db/repositories/search.ts'
import type { SearchKind } from '../db/search-entries.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import { wordPositions } from '../lib/word-positions.ts'
import type { Page } from '../protocol/envelope.ts'
import type { ConversationId, ProjectId, UserId } from '../protocol/ids.ts'
import type { SearchType } from '../protocol/search.ts'
import { parseQuery, type SearchQuery } from './query.ts'
import { hasPhrase, snippetOf } from './text-match.ts'

export type SearchRequest = {
  q: string
  type?: SearchType | undefined
  projectId?: ProjectId | undefined
  conversationId?: ConversationId | undefined
  from?: Date | undefined
  to?: Date | undefined
  limit: number
  cursor?: string | undefined
}
export type Hit = Omit<FoundText, 'text'> & { type: SearchType; snippet: string }

const KINDS: Record<Exclude<SearchType, 'title' | 'document'>, readonly SearchKind[]> = {
  message: ['text', 'step'],
  tool: ['tool'],
  file: ['file'],
}
const TYPE_OF: Record<SearchKind, SearchType> = {
  text: 'message',
  step: 'message',
  tool: 'tool',
  file: 'file',
}

/** Entries in one read that looks for a phrase in their texts, and reads for one page. */
const CANDIDATE_BATCH_SIZE = 100
const MAX_READS = 10
const LONG_TEXT_CHARACTERS = 4_000

/** User, query, whether most words suffice, and the last entry's number: null before the first message. */
const Cursor = z.tuple([z.string(), z.string(), z.enum(['all', 'most']), z.int().or(z.literal(''))])
type Position = { needed: 'all' | 'most'; last: number | null }

export type Search = ReturnType<typeof createSearch>

export function createSearch({ search, projects }: Pick<Store, 'search' | 'projects'>) {
  /** The user's projects that the query names, and the one that the request names. */
  async function projectsOf(
    userId: UserId,
    query: SearchQuery,
    projectId: ProjectId | undefined,
  ): Promise<ProjectId[] | undefined> {
    if (query.projects.length === 0) return projectId === undefined ? undefined : [projectId]
    const names = query.projects.map(foldCase)
    const owned = await projects.names(userId)
    return owned
      .filter(({ id, name }) => names.includes(foldCase(name)) && (projectId ?? id) === id)
      .map(({ id }) => id)
  }

  /** One page of entries after a position; texts without a wanted phrase are skipped. */
  async function read(
    userId: UserId,
    query: SearchQuery,
    filter: MessageFilter,
    { withTitles, last, limit }: { withTitles: boolean; last: number | null; limit: number },
  ): Promise<{ hits: Hit[]; last: number | null; isEnd: boolean }> {
    const hits: Hit[] = []
    let at = last
    let inTitles = withTitles && (at === null || at < 0)
    const atOnce =
      query.phrases.length + query.withoutPhrases.length > 0 ? CANDIDATE_BATCH_SIZE : limit + 1
    for (let reads = 0; reads < MAX_READS; reads += 1) {
      if (!inTitles && filter.kinds.length === 0) return { hits, last: at, isEnd: true }
      const found: FoundText[] = inTitles
        ? await search.titles(userId, filter, { after: at, limit: atOnce })
        : await search.messages(userId, filter, {
            before: at === null || at < 0 ? null : at,
            limit: atOnce,
          })
      for (const entry of found) {
        // Comparing a long text takes milliseconds: other requests are served in between.
        if (entry.text.length > LONG_TEXT_CHARACTERS) await setImmediate()
        const hit = toHit(entry, query)
        if (hit !== null) {
          if (hits.length === limit) return { hits, last: at, isEnd: false }
          hits.push(hit)
        }
        at = entry.rowid
      }
      if (found.length === atOnce) continue
      if (!inTitles) return { hits, last: at, isEnd: true }
      inTitles = false
      if (hits.length === limit) return { hits, last: at ?? -Number.MAX_SAFE_INTEGER, isEnd: false }
    }
    return { hits, last: at, isEnd: false }
  }

  return {
    /** @throws AppError `cursor_invalid` for a cursor of another user or another query. */
    async find(userId: UserId, request: SearchRequest): Promise<Page<Hit>> {
      const { q, type, cursor, limit, ...rest } = request
      const query = parseQuery(q)
      const identity = createHash('sha256')
        .update(JSON.stringify([q, type, rest]))
        .digest('base64url')
        .slice(0, 16)
      const position = cursor === undefined ? null : positionOf(cursor, userId, identity)
      const isFiltered = query.isMine || query.hasFile || query.projects.length > 0
      const hasTerms = query.words.length + query.without.length + query.withoutPhrases.length > 0
      if (!hasTerms && !isFiltered) return { items: [], nextCursor: null, hasMore: false }
      const projectIds = await projectsOf(userId, query, request.projectId)
      if (projectIds?.length === 0) return { items: [], nextCursor: null, hasMore: false }
      const withTitles =
        (type === undefined || type === 'title') && !query.isMine && !query.hasFile && hasTerms
      const filter = {
        ...rest,
        projectIds,
        words: query.words,
        without: query.without,
        isMine: query.isMine,
        hasFile: query.hasFile,
        kinds: kindsOf(type),
      }
      for (const needed of position === null ? (['all', 'most'] as const) : [position.needed]) {
        const count = query.words.length
        const most = query.phrases.length > 0 ? count : Math.ceil((count * 2) / 3)
        if (needed === 'most' && most === count) break
        const found = await read(
          userId,
          query,
          { ...filter, needed: needed === 'all' ? count : most },
          { withTitles, last: position?.last ?? null, limit },
        )
        if (found.hits.length === 0 && found.isEnd && position === null && needed === 'all')
          continue
        return {
          items: found.hits,
          hasMore: !found.isEnd,
          nextCursor: found.isEnd
            ? null
            : encodeCursor([userId, identity, needed, found.last ?? '']),
        }
      }
      return { items: [], nextCursor: null, hasMore: false }
    },
  }
}

function positionOf(cursor: string, userId: UserId, identity: string): Position {
  const [user, query, needed, last] = decodeCursor(Cursor, cursor)
  if (user !== userId || query !== identity) throw appError('cursor_invalid')
  return { needed, last: last === '' ? null : last }
}

const kindsOf = (type: SearchType | undefined): readonly SearchKind[] => {
  if (type === undefined) return Object.values(KINDS).flat()
  return type === 'title' || type === 'document' ? [] : KINDS[type]
}

/** Null for a text without a wanted phrase, or with an unwanted one. */
function toHit({ text, ...entry }: FoundText, query: SearchQuery): Hit | null {
  const words = wordPositions(text)
  if (!query.phrases.every((phrase) => hasPhrase(words, phrase))) return null
  if (query.withoutPhrases.some((phrase) => hasPhrase(words, phrase))) return null
  return {
    ...entry,
    type: entry.message === undefined ? 'title' : TYPE_OF[entry.message.kind],
    snippet: snippetOf(text, words, query.words),
  }
}
