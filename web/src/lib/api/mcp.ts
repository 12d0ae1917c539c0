// The state of the configured MCP servers.
import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import type { McpCallbackBody, McpServer } from '../../../../server/protocol/mcp.ts'
import { request } from '../api-client.ts'

export const useMcpServers = () =>
  useQuery({
    queryKey: ['mcp'],
    queryFn: ({ signal }) =>
      request<{ servers: McpServer[] }>('/api/mcp', { signal }).then(({ servers }) => servers),
    // Servers connect and disconnect at any time.
    refetchInterval: ({ state }) =>
      state.data?.some(({ state: of, auth }) => of !== 'connected' && auth !== 'needed') === true
        ? 3_000
        : false,
    meta: { quiet: true },
  })

/** Returns the address at which the person signs in to the server. */
export const beginSignIn = (name: string) =>
  request<{ url: string }>(`/api/mcp/${name}/connect`, { method: 'POST' })

/** Ends a sign-in with what the authorization server added to this page's address. */
export const finishSignIn = (body: z.input<typeof McpCallbackBody>) =>
  request<{ servers: McpServer[] }>('/api/mcp/callback', { method: 'POST', body })

export const signOut = (name: string) =>
  request(`/api/mcp/${name}/connection`, { method: 'DELETE' })
