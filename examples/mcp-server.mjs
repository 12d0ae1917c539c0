// An MCP server in one file that manages a shopping list. To use it, add to config.yml:
//   mcp_servers: { shopping: { command: node, args: [examples/mcp-server.mjs] } }
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

const list = []
const textResult = (text) => ({ content: [{ type: 'text', text }] })

serveStdio(() => {
  const server = new McpServer({ name: 'shopping', version: '1.0.0' })

  // Read-only tools run without approval …
  server.registerTool(
    'show',
    { description: 'Shows the shopping list.', annotations: { readOnlyHint: true } },
    async () => textResult(list.length === 0 ? 'The list is empty.' : list.join('\n')),
  )

  // … all others require approval.
  server.registerTool(
    'add',
    {
      description: 'Adds an item to the shopping list.',
      inputSchema: z.object({ item: z.string().min(1).max(100) }),
    },
    async ({ item }) => {
      list.push(item)
      return textResult(`Added: ${item}`)
    },
  )

  return server
})
