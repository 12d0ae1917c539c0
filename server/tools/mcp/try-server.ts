// Tries an MCP server: connects once, lists its tools, and disconnects.
import { onAbort } from '../../lib/abort.ts'
import type { McpServerTest } from '../../protocol/admin/mcp-server.ts'
import type { McpServerSettings } from '../../protocol/models/mcp.ts'
import type { ToolDefinition } from '../definition.ts'
import { connectServer } from './connected-server.ts'
import { maySignIn, shownOutput } from './server-entry.ts'
import type { ToolEnvironment } from './tool.ts'

interface TriedServer extends ToolEnvironment {
  name: string
  settings: McpServerSettings
  log(message: string, detail: Record<string, unknown>): void
  /** Whether apps of the server can be shown. */
  offersApps?: boolean | undefined
  /** Removes secrets from what a program prints. */
  redact(text: string): string
}

/** What an attempt found out; the tools have their own risk levels, not configured ones. */
export type TriedMcpServer = Omit<McpServerTest, 'tools'> & { tools: readonly ToolDefinition[] }

/** @param signal aborts the attempt. Without it, the time limits of every connection end the attempt. */
export async function tryServer(server: TriedServer, signal: AbortSignal): Promise<TriedMcpServer> {
  let wantsSignIn = false
  const { connection, tools, problems } = connectServer({
    ...server,
    // A person waits for the result.
    starts: async () => () => undefined,
    onSignIn: maySignIn(server.settings)
      ? () => {
          wantsSignIn = true
        }
      : undefined,
  })
  const release = onAbort(signal, () => void connection.close())
  try {
    await connection.open()
    const { status, era, error } = connection
    const isConnected = status === 'connected'
    return {
      state: isConnected ? 'connected' : wantsSignIn ? 'sign_in_needed' : 'failed',
      era: isConnected ? era : null,
      tools: tools(),
      error: error?.message ?? null,
      reason: error?.reason ?? null,
      params: error?.params ?? null,
      problems: [...problems()],
      output: shownOutput(connection.output, server.settings, server.redact),
    }
  } finally {
    release()
    await connection.close()
  }
}
