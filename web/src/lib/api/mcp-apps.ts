// The domains that the user has allowed the apps of MCP servers.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { McpAppDomainList } from '../../../../server/protocol/mcp-app.ts'
import { request } from '../http/api-client.ts'

/** The query key of `useAllowedDomains`. */
export const allowedDomainsKey = (server: string) => ['mcp-app-domains', server]

/** Lists of domains, newest first; none while apps are off. */
export const useAllowedDomains = (server: string) =>
  useQuery({
    queryKey: allowedDomainsKey(server),
    queryFn: ({ signal }) =>
      request<McpAppDomainList>(`/api/mcp/apps/${server}/domains`, { signal }).then(
        ({ items }) => items,
      ),
    meta: { quiet: true },
  })

/** No longer allows a list of domains. Apps that are open keep what they have. */
export function useEndDomains(server: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (domains: readonly string[]) =>
      request(`/api/mcp/apps/${server}/domains`, {
        method: 'PUT',
        body: { domains, allowed: false },
      }),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: allowedDomainsKey(server) }),
        client.invalidateQueries({ queryKey: ['mcp-apps', server], refetchType: 'none' }),
      ]),
  })
}
