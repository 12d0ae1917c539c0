// Route that lists the MCP servers.
import type { App } from '../http/app.ts'
import { envelope } from '../protocol/envelope.ts'
import { McpServerList } from '../protocol/mcp.ts'
import type { McpServers } from '../tools/mcp/servers.ts'
import { success } from './envelope.ts'

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
    async () => success({ servers: mcp.list() }),
  )
}
