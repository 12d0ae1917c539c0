// Searching everything the user has.
import { useInfiniteQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import type { SearchPage, SearchType } from '../../../../server/protocol/conversations/search.ts'
import { request } from '../http/api-client.ts'

/** Hits in pages; nothing is requested for an empty query. `type`: only hits of this kind. The last hits stay while a longer query loads. */
export const useSearchHits = (q: string, type: SearchType | null) =>
  useInfiniteQuery({
    queryKey: ['search', q, type],
    queryFn: ({ pageParam, signal }) =>
      request<z.output<typeof SearchPage>>('/api/search', {
        query: { q, type, limit: 30, cursor: pageParam },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    enabled: q !== '',
    placeholderData: (previous) => previous,
    // Messages arrive meanwhile.
    staleTime: 0,
    meta: { quiet: true },
  })
