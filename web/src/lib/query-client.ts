// The cache of server state. Errors that nobody handles become toasts.
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './api-client.ts'

type Report = (error: unknown) => void

/** `report` receives the error of every failed request, except where `meta.quiet` says that the view shows it itself. */
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
        // Retry only what may succeed without a change.
        retry: (count, error) =>
          count < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 502),
      },
    },
  })
