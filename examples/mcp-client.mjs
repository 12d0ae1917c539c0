// An MCP client for NanoClaw: asks the agent with the tool `ask`.
// Usage: npm install @modelcontextprotocol/client && node examples/mcp-client.mjs "What is 12 * 34?"
// Optional environment: NANOCLAW_URL, NANOCLAW_KEY.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const client = new Client({ name: 'example', version: '1' })
const key = process.env.NANOCLAW_KEY
await client.connect(
  new StreamableHTTPClientTransport(
    new URL(`${process.env.NANOCLAW_URL ?? 'http://127.0.0.1:3000'}/mcp`),
    { requestInit: { headers: key ? { authorization: `Bearer ${key}` } : {} } },
  ),
)
const { content } = await client.callTool({
  name: 'ask',
  arguments: { text: process.argv[2] ?? 'What is 12 * 34?' },
})
console.log(JSON.parse(content[0].text).text)
await client.close()
