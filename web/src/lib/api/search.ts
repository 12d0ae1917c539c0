// Searching everything the user has.
import { useInfiniteQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import type { SearchPage } from '../../../../server/protocol/search.ts'
import { request } from '../api-client.ts'

/** Hits in pages; nothing is requested for an empty query. The last hits stay while a longer query loads. */
export const useSearchHits = (q: string) =>
  useInfiniteQuery({
    queryKey: ['search', q],
    queryFn: ({ pageParam, signal }) =>
      request<z.output<typeof SearchPage>>('/api/search', {
        query: { q, limit: 30, cursor: pageParam },
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
