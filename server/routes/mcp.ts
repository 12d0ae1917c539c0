// The state of the MCP servers, for the page.
import type { App } from '../http/app.ts'
import { envelope } from '../protocol/envelope.ts'
import { McpServerList } from '../protocol/mcp.ts'
import type { McpServers } from '../tools/mcp/servers.ts'

export function registerMcpRoutes(app: App, { mcp }: { mcp: Pick<McpServers, 'list'> }): void {
  app.get(
    '/api/mcp',
    {
      schema: {
        summary: 'List MCP servers with their state and tools',
        tags: ['tools'],
        response: { 200: envelope(McpServerList) },
      },
    },
    async () => ({ code: 0 as const, data: { servers: mcp.list() } }),
  )
}
