// The apps of MCP servers: their documents, and the domains that a person allows them.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { McpApp, McpAppReference } from '../../../../../server/protocol/mcp-app.ts'
import { allowedDomainsKey } from '../../../lib/api/mcp-apps.ts'
import { request } from '../../../lib/http/api-client.ts'

type Place = Pick<McpAppReference, 'server' | 'uri'>
const keyOf = ({ server, uri }: Place) => ['mcp-apps', server, uri]

/** The document of an app, and the address of its frame. Read once it is `enabled`. */
export const useMcpApp = (place: Place, enabled: boolean) =>
  useQuery({
    queryKey: keyOf(place),
    queryFn: ({ signal }) =>
      request<McpApp>(`/api/mcp/apps/${place.server}?${new URLSearchParams({ uri: place.uri })}`, {
        signal,
      }),
    enabled,
    // Another document would end the one in the frame.
    staleTime: Number.POSITIVE_INFINITY,
    meta: { quiet: true },
  })

/** Allows the apps of a server these domains. The app is read again, with its new frame. */
export function useAllowDomains(place: Place) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (domains: string[]) =>
      request(`/api/mcp/apps/${place.server}/domains`, {
        method: 'PUT',
        body: { domains, allowed: true },
      }),
    onSuccess: () =>
      Promise.all(
        [keyOf(place), allowedDomainsKey(place.server)].map((queryKey) =>
          client.invalidateQueries({ queryKey }),
        ),
      ),
  })
}
