// The state of the configured MCP servers.
import { useQuery } from '@tanstack/react-query'
import { request } from '../api-client.ts'

export type McpServer = {
  name: string
  status: 'connecting' | 'connected' | 'waiting'
  tools: { name: string; description: string }[]
  error: string | null
}

export const useMcpServers = () =>
  useQuery({
    queryKey: ['mcp'],
    queryFn: ({ signal }) =>
      request<{ servers: McpServer[] }>('/api/mcp', { signal }).then(({ servers }) => servers),
    meta: { quiet: true },
  })
