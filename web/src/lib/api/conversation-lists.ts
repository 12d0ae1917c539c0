// The cached lists of conversations: which list contains a conversation, and updates without a refetch.
import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import type { z } from 'zod'
import type {
  Conversation,
  ConversationPage,
} from '../../../../server/protocol/conversations/conversation.ts'

/** A cached list in the format of the query client. */
export type ConversationPages = InfiniteData<z.infer<typeof ConversationPage>>

/** Which conversations the list shows. */
export type ListView = 'current' | 'archived' | 'trash'

/** What a list contains; part of its key in the cache. */
export type ListFilters = {
  /** Part of the title. */
  q: string
  view: ListView
  /** Only conversations with this tag; null: all. */
  tag: string | null
  /** Only pinned conversations, or only the others; null: both together, as in the trash. */
  pinned: boolean | null
  /** Only those of this project; null: all. */
  projectId: string | null
}

/** The filters for the conversations of a project. */
export const inProject = (projectId: string): ListFilters => ({
  q: '',
  view: 'current',
  tag: null,
  pinned: null,
  projectId,
})

const LISTS = 'conversations'

/** The path of the lists. */
export const LISTS_PATH = '/api/conversations'

/** Conversations per page: the server's maximum. */
const PAGE_SIZE = 100

/** The parameters of the request for a page of a list; null begins it. */
export const listParameters = (filters: ListFilters, cursor: string | null) => ({
  limit: PAGE_SIZE,
  cursor,
  q: filters.q,
  tag: filters.tag,
  project_id: filters.projectId,
  ...(filters.pinned === null || filters.view === 'trash' ? {} : { pinned: filters.pinned }),
  ...(filters.view === 'trash' ? { trashed: 'true' } : {}),
  ...(filters.view === 'archived' ? { archived: 'true' } : {}),
})

/** The query keys of the lists of conversations. */
export const listKeys = {
  all: [LISTS] as const,
  one: (filters: ListFilters) => [LISTS, filters] as const,
}

/** Folds a title for comparison, like the server. */
const fold = (text: string): string => text.normalize('NFKC').toLowerCase()

const belongs = (conversation: Conversation, filters: ListFilters): boolean =>
  !conversation.temporary &&
  (conversation.deleted_at !== null) === (filters.view === 'trash') &&
  (filters.view === 'trash' || conversation.archived === (filters.view === 'archived')) &&
  (filters.pinned === null || conversation.pinned === filters.pinned) &&
  (filters.projectId === null || conversation.project_id === filters.projectId) &&
  (filters.tag === null || conversation.tags.includes(filters.tag)) &&
  fold(conversation.title).includes(fold(filters.q))

/** The server's order: newest activity first. Times are ISO 8601 in UTC, so they compare as strings. */
const isBefore = (a: Conversation, b: Conversation): boolean =>
  a.updated_at > b.updated_at || (a.updated_at === b.updated_at && a.id > b.id)

/**
 * The list with the conversation in its place, or without it if it does not belong there. A conversation beyond the last
 * loaded page is left out: it arrives with the next page.
 */
export function placeConversation(
  pages: ConversationPages,
  filters: ListFilters,
  id: string,
  conversation: Conversation | null,
): ConversationPages {
  const without = pages.pages.map((page) =>
    page.items.some((item) => item.id === id)
      ? { ...page, items: page.items.filter((item) => item.id !== id) }
      : page,
  )
  if (conversation === null || !belongs(conversation, filters))
    return without.some((page, at) => page !== pages.pages[at])
      ? { ...pages, pages: without }
      : pages
  const end = pages.pages.at(-1)?.items.at(-1)
  const isLoaded =
    pages.pages.at(-1)?.has_more === false || (end !== undefined && !isBefore(end, conversation))
  const following = without.findIndex(({ items }) => {
    const last = items.at(-1)
    return last !== undefined && isBefore(conversation, last)
  })
  const target = following === -1 ? without.length - 1 : following
  if (following === -1 && !isLoaded) return { ...pages, pages: without }
  return {
    ...pages,
    pages: without.map((page, at) => {
      if (at !== target) return page
      const before = page.items.findIndex((item) => isBefore(conversation, item))
      const index = before === -1 ? page.items.length : before
      return { ...page, items: page.items.toSpliced(index, 0, conversation) }
    }),
  }
}

/** The filters of a list, given its key; null for other keys. */
export const filtersOf = (queryKey: readonly unknown[]): ListFilters | null => {
  const [name, filters] = queryKey
  // Only `listKeys.one` creates such keys.
  return name === LISTS && typeof filters === 'object' ? (filters as ListFilters) : null
}

/** Every cached list, with its filters. */
const cachedLists = (client: QueryClient) =>
  client
    .getQueryCache()
    .findAll({ queryKey: listKeys.all })
    .flatMap(({ queryKey }) => {
      const filters = filtersOf(queryKey)
      const pages = client.getQueryData<ConversationPages>(queryKey)
      return filters === null || pages === undefined ? [] : [{ queryKey, filters, pages }]
    })

/** The cached copies of these conversations in the lists, by id. */
export function findAllListed(
  client: QueryClient,
  ids: ReadonlySet<string>,
): Map<string, Conversation> {
  const found = new Map<string, Conversation>()
  for (const { pages } of cachedLists(client))
    for (const { items } of pages.pages)
      for (const item of items) if (ids.has(item.id)) found.set(item.id, item)
  return found
}

/** The conversation from the first cached list that contains it. */
export function findListed(client: QueryClient, id: string): Conversation | undefined {
  for (const { pages } of cachedLists(client))
    for (const { items } of pages.pages) {
      const found = items.find((item) => item.id === id)
      if (found !== undefined) return found
    }
  return undefined
}

/** The list without these conversations; the same object if it contains none of them. */
function withoutAll(pages: ConversationPages, ids: ReadonlySet<string>): ConversationPages {
  const has = pages.pages.some(({ items }) => items.some(({ id }) => ids.has(id)))
  if (!has) return pages
  const remaining = pages.pages.map((page) => ({
    ...page,
    items: page.items.filter(({ id }) => !ids.has(id)),
  }))
  return { ...pages, pages: remaining }
}

/**
 * Puts conversations, keyed by id, into every cached list where they belong; null removes one from all lists. Each list is
 * updated once, regardless of their number.
 */
export function placeInLists(
  client: QueryClient,
  conversations: ReadonlyMap<string, Conversation | null>,
): void {
  for (const { queryKey, filters, pages } of cachedLists(client)) {
    const staying = [...conversations.values()].flatMap((one) =>
      one !== null && belongs(one, filters) ? [one] : [],
    )
    const leaving = new Set(conversations.keys())
    for (const { id } of staying) leaving.delete(id)
    let placed = withoutAll(pages, leaving)
    for (const one of staying) placed = placeConversation(placed, filters, one.id, one)
    // Keep the time of the fetch: other conversations may have changed on the server since then.
    if (placed !== pages)
      client.setQueryData(queryKey, placed, {
        updatedAt: client.getQueryState(queryKey)?.dataUpdatedAt ?? 0,
      })
  }
}

const refreshLists = (
  client: QueryClient,
  which: (filters: ListFilters) => boolean,
): Promise<void> =>
  client.invalidateQueries({
    queryKey: listKeys.all,
    predicate({ queryKey }) {
      const filters = filtersOf(queryKey)
      return filters !== null && which(filters)
    },
  })

/** Refetches the trash. Its order, by time of deletion, is known only to the server. */
export const refreshTrash = (client: QueryClient): Promise<void> =>
  refreshLists(client, ({ view }) => view === 'trash')

/** Refetches the lists of pinned conversations. Their order is known only to the server. */
export const refreshPins = (client: QueryClient): Promise<void> =>
  refreshLists(client, ({ pinned }) => pinned === true)
