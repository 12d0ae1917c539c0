// The state of the configured MCP servers.
import { useQuery } from '@tanstack/react-query'
import type { McpServer } from '../../../../server/protocol/mcp.ts'
import { request } from '../api-client.ts'

export const useMcpServers = () =>
  useQuery({
    queryKey: ['mcp'],
    queryFn: ({ signal }) =>
      request<{ servers: McpServer[] }>('/api/mcp', { signal }).then(({ servers }) => servers),
    // Servers connect and disconnect at any time.
    refetchInterval: ({ state }) =>
      state.data?.some(({ status }) => status !== 'connected') === true ? 3_000 : false,
    meta: { quiet: true },
  })
