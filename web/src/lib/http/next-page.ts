// Loads the next page of a list whose loaded pages may be refetched at the same time.
import {
  type FetchNextPageOptions,
  hashKey,
  type InfiniteData,
  type InfiniteQueryObserverResult,
  type QueryKey,
  useQueryClient,
} from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'

type FetchNextPage = (
  options: FetchNextPageOptions,
) => Promise<Pick<InfiniteQueryObserverResult, 'isError' | 'hasNextPage'>>

/**
 * Returns a function that loads the next page of a list. A refetch of the loaded pages, which any event may cause, takes
 * precedence: it cancels the request for the next page, so the page is requested again after it. The promise never rejects;
 * the list itself reports a failure.
 */
export function useNextPage(queryKey: QueryKey, fetchNextPage: FetchNextPage): () => Promise<void> {
  const client = useQueryClient()
  const key = hashKey(queryKey)
  /** The list that is shown; null once none is. */
  const shown = useRef<string | null>(null)
  useEffect(() => {
    shown.current = key
    return () => {
      shown.current = null
    }
  }, [key])
  return useCallback(async () => {
    const count = (): number =>
      client.getQueryCache().get<InfiniteData<unknown>>(key)?.state.data?.pages.length ?? 0
    const before = count()
    for (;;) {
      const { isError, hasNextPage } = await fetchNextPage({ cancelRefetch: false })
      if (isError || !hasNextPage || count() !== before || shown.current !== key) return
    }
  }, [client, key, fetchNextPage])
}
