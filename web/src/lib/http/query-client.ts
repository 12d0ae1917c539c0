// The cache of server state. Errors that nobody handles become toasts.
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { useOffline } from '../offline/connection.ts'
import { opensOffline } from '../offline/offline.ts'
import { ApiError } from './api-client.ts'

type Report = (error: unknown) => void

/** `report` receives the error of every failed request, except where `meta.quiet` says that the view shows it itself. */
export function createQueryClient(report: Report): QueryClient {
  const client = new QueryClient({
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
        // Without a connection there may be copies; what is shown then is loaded again as soon as there is one.
        networkMode: 'always',
        refetchOnReconnect: 'always',
        // Retry only what may succeed without a change.
        retry: (count, error) =>
          count < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 502),
      },
    },
  })
  // What is shown may be copies: the browser does not say when a server that was stopped can be reached again.
  useOffline.subscribe(({ isOffline }, before) => {
    if (before.isOffline && !isOffline && opensOffline()) void client.invalidateQueries()
  })
  return client
}
