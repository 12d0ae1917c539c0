// Serves MCP over HTTP to clients of both protocol eras, without sessions.
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { appError } from '../errors.ts'
import { Actor } from '../protocol/admin/audit.ts'
import { UserId } from '../protocol/ids.ts'
import { createMcpServer, type McpServices } from './server.ts'

/** Serves `/mcp`. */
export interface McpHandler {
  /** Answers one request; its `auth.clientId` is the user, and `auth.extra.actor` who the audit log names. */
  serve: ReturnType<typeof toNodeHandler>
  close(): Promise<void>
}

/** @param onError receives the errors of requests, for the log. */
export function createHandler(
  services: McpServices,
  { version, onError }: { version: string; onError(error: Error): void },
): McpHandler {
  const handler = createMcpHandler(
    ({ authInfo, era }) => {
      if (authInfo === undefined) throw appError('sign_in_required')
      const userId = UserId.parse(authInfo.clientId)
      const actor = Actor.parse(authInfo.extra?.actor)
      return createMcpServer({ userId, actor }, services, { version, isModern: era === 'modern' })
    },
    { onerror: onError },
  )
  return { serve: toNodeHandler(handler), close: () => handler.close() }
}
