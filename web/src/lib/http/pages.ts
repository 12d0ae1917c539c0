// Lists that the server sends page by page.
import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query'
import { request } from './api-client.ts'

/** One page of a list, as the server sends it. `next_cursor` requests the next page; null on the last. */
export type PageOf<Item> = { items: Item[]; next_cursor: string | null; has_more: boolean }

/**
 * A paginated list: all pages that have been loaded. `query` filters it; `More` is what a page has besides its items. The
 * view shows errors itself.
 */
export const usePages = <Item, More = unknown>(
  key: QueryKey,
  path: string,
  query: Record<string, string | number | undefined>,
) =>
  useInfiniteQuery({
    queryKey: key,
    queryFn: ({ signal, pageParam }) =>
      request<PageOf<Item> & More>(path, { query: { ...query, cursor: pageParam }, signal }),
    initialPageParam: null as string | null, // the type of the later cursors
    getNextPageParam: (last) => last.next_cursor,
    meta: { quiet: true },
  })

/** All items of a paginated list, a hundred per request; for lists that are shown as a whole, such as menus. */
export async function requestAll<Item>(path: string, signal: AbortSignal): Promise<Item[]> {
  const items: Item[] = []
  let cursor: string | null = null
  do {
    const page: PageOf<Item> = await request(path, { query: { limit: 100, cursor }, signal })
    items.push(...page.items)
    cursor = page.next_cursor
  } while (cursor !== null)
  return items
}
