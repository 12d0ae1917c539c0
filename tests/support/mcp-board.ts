// An MCP server with an app, for tests: tools for models, for apps and for both, of low, medium and high risk.
import { z } from 'zod'
import { startModernMcpServer } from '../fixtures/mcp-modern-server.ts'

const MIME = 'text/html;profile=mcp-app'
const URI = 'ui://board/board.html'

/** Starts it; `calls` are the calls that have reached its tools. `html`: the app. */
export async function startBoard(
  html: () => string = () => '<!doctype html><p>Board</p>',
  /** What calls with the card `held` wait for. */
  released: Promise<unknown> = Promise.resolve(),
) {
  const calls: string[] = []
  const server = await startModernMcpServer((mcp) => {
    const add = (
      name: string,
      ui: object | undefined,
      annotations: { readOnlyHint?: boolean; destructiveHint?: boolean; idempotentHint?: boolean },
    ) =>
      mcp.registerTool(
        name,
        {
          description: name,
          inputSchema: z.object({ card: z.string().optional() }),
          annotations,
          ...(ui === undefined ? {} : { _meta: { ui } }),
        },
        async ({ card = '' }) => {
          calls.push(`${name} ${card}`.trim())
          if (card === 'held') await released
          if (card === 'broken') throw new Error('No such card.')
          return {
            content: [{ type: 'text', text: `${name} ${card}`.trim() }],
            structuredContent: { card },
          }
        },
      )
    add('board', { resourceUri: URI }, { readOnlyHint: true })
    add('look', { visibility: ['app'] }, { readOnlyHint: true })
    add('move', { visibility: ['app'] }, {})
    add('clear', { visibility: ['app', 'model'] }, { destructiveHint: true })
    add('pin', { resourceUri: URI }, { idempotentHint: true })
    add('secret', { visibility: ['model'] }, { readOnlyHint: true })
    mcp.registerResource('Board', URI, { mimeType: MIME }, async () => ({
      contents: [{ uri: URI, mimeType: MIME, text: html() }],
    }))
  })
  return { ...server, calls, settings: { url: server.url, trust_hints: true } }
}
