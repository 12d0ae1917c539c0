// The cache of server state, which reports errors that no view shows.
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { useOffline } from '../offline/connection.ts'
import { opensOffline } from '../offline/offline.ts'
import { ApiError } from './api-client.ts'

type Report = (error: unknown) => void

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: {
      /** The view shows the error itself. */
      quiet?: boolean
      /** Called whenever the query has loaded, before its data is shown. */
      onLoaded?: (client: QueryClient) => void
    }
  }
}

/** `report` receives the error of every failed request, unless `meta.quiet` says that the view shows the error itself. */
export function createQueryClient(report: Report): QueryClient {
  const client = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, query) => {
        if (query.meta?.quiet !== true) report(error)
      },
      onSuccess: (_data, query) => query.meta?.onLoaded?.(client),
    }),
    mutationCache: new MutationCache({
      onError: (error, _variables, _context, mutation) => {
        if (mutation.meta?.quiet !== true) report(error)
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: 15_000,
        // Requests also run offline, where they return stored copies. Refetch once the connection is back.
        networkMode: 'always',
        refetchOnReconnect: 'always',
        // Only an unreachable server or gateway may succeed on a retry.
        retry: (count, error) =>
          count < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 502),
      },
      // The server may be reachable without a network: it may run on this computer. By default, changes would wait for one.
      mutations: { networkMode: 'always' },
    },
  })
  // Replace copies once the server is back. `refetchOnReconnect` covers only the network, not a restarted server.
  useOffline.subscribe(({ isOffline }, before) => {
    if (before.isOffline && !isOffline && opensOffline()) void client.invalidateQueries()
  })
  return client
}
