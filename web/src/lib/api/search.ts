// Queries for the search across all of the user's data.
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import type { SearchPage, SearchType } from '../../../../server/protocol/conversations/search.ts'
import type { FoundFiles } from '../../../../server/protocol/projects/project.ts'
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

/** Files of all projects whose paths contain the words. Sends no request for an empty text; the previous files stay while the next load. */
export const useFoundFiles = (text: string) =>
  useQuery({
    queryKey: ['project-files', 'found', text],
    queryFn: async ({ signal }) => {
      const found = await request<z.output<typeof FoundFiles>>('/api/project-files', {
        query: { q: text.slice(0, 100) },
        signal,
      })
      return found.files
    },
    enabled: text !== '',
    placeholderData: keepPreviousData,
    meta: { quiet: true },
  })
