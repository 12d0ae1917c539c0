// Query for the search across all of the user's data.
import { useInfiniteQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import type { SearchPage, SearchType } from '../../../../server/protocol/conversations/search.ts'
import { request } from '../http/api-client.ts'

/** The query key of `useSearchHits`. */
export const searchKey = (q: string, type: SearchType | null) => ['search', q, type] as const

/**
 * Hits in pages, of one `type` or of all for null. Sends no request for an empty query. The previous hits stay while
 * the next query loads.
 */
export const useSearchHits = (q: string, type: SearchType | null) =>
  useInfiniteQuery({
    queryKey: searchKey(q, type),
    queryFn: ({ pageParam, signal }) =>
      request<z.output<typeof SearchPage>>('/api/search', {
        query: { q, type, limit: 30, cursor: pageParam },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    enabled: q !== '',
    placeholderData: (previous) => previous,
    // New messages may match since the last search.
    staleTime: 0,
    meta: { quiet: true },
  })
