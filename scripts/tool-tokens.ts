// Prints how many tokens each tool adds to every model request, and the total: `npm run tool-tokens`.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { createServer } from '../server/app.ts'
import { parseConfig } from '../server/config/load.ts'
import { envelope } from '../server/protocol/envelope.ts'
import { ToolList, type ToolListing } from '../server/protocol/models/catalog.ts'
import { estimateTokens } from '../server/protocol/models/token-estimate.ts'

const ListResponse = envelope(ToolList)

/** Starts a server with all built-in tools enabled and returns the tools as models get them. */
async function listTools(folder: string): Promise<ToolListing[]> {
  const config = parseConfig(
    JSON.stringify({
      data_dir: join(folder, 'data'),
      workspace_root: join(folder, 'workspaces'),
      tools: { exec: { enabled: true } },
    }),
    {},
  )
  const log = pino({ level: 'silent' })
  const server = await createServer({ config, log, webRoot: join(folder, 'web') })
  try {
    const address = await server.app.listen({ host: '127.0.0.1', port: 0 })
    const response = await fetch(`${address}/api/tools`)
    return ListResponse.parse(await response.json()).data.tools
  } finally {
    await server.close()
  }
}

const folder = await mkdtemp(join(tmpdir(), 'nanoclaw-tool-tokens-'))
try {
  const tools = await listTools(folder)
  const print = (tokens: number, what: string): void =>
    console.log(`${String(tokens).padStart(7)}  ${what}`)
  // As sent in a request, without the fields that only the page uses.
  const schemas = tools.map(({ type, function: declaration }) => ({ type, function: declaration }))
  for (const schema of schemas) print(estimateTokens(JSON.stringify(schema)), schema.function.name)
  print(estimateTokens(JSON.stringify(schemas)), `all ${schemas.length} tools in one request`)
} finally {
  await rm(folder, { recursive: true, force: true })
}
