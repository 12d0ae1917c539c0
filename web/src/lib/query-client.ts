// The cache of server state, and what happens to errors nobody handled: a toast with the server's own words.
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './api-client.ts'

type Report = (error: unknown) => void

/** `report` is told of every failed request, except those whose `meta.quiet` says that the view shows it itself. */
export const createQueryClient = (report: Report): QueryClient =>
  new QueryClient({
    queryCache: new QueryCache({
      onError: (error, query) => {
        if (query.meta?.quiet !== true) report(error)
      },
    }),
    mutationCache: new MutationCache({
      onError: (error, _variables, _context, mutation) => {
        if (mutation.meta?.quiet !== true) report(error)
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: 15_000,
        // Only what may heal by itself is asked again.
        retry: (count, error) =>
          count < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 502),
      },
    },
  })
