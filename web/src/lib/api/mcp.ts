// The state of the configured MCP servers.
import { useQuery } from '@tanstack/react-query'
import { request } from '../api-client.ts'

export type McpServer = {
  name: string
  transport: string
  status: 'connecting' | 'connected' | 'waiting'
  tools: { name: string; description: string }[]
  error: string | null
}

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
