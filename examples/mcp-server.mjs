// An MCP server in one file: it keeps a shopping list. Offer it to the agent in config.yml:
//   mcp_servers: { shopping: { command: node, args: [examples/mcp-server.mjs] } }
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const list = []
const server = new McpServer({ name: 'shopping', version: '1.0.0' })
const say = (text) => ({ content: [{ type: 'text', text }] })

// Read-only tools run without asking …
server.registerTool(
  'show',
  { description: 'Shows the shopping list.', annotations: { readOnlyHint: true } },
  async () => say(list.length === 0 ? 'The list is empty.' : list.join('\n')),
)

// … all others ask the user first.
server.registerTool(
  'add',
  {
    description: 'Puts something on the shopping list.',
    inputSchema: { item: z.string().min(1).max(100) },
  },
  async ({ item }) => {
    list.push(item)
    return say(`Added: ${item}`)
  },
)

await server.connect(new StdioServerTransport())
