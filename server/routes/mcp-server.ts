// NanoClaw as an MCP server: `/mcp`, streamable HTTP, for clients of both protocol eras, without sessions.
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { appError } from '../errors.ts'
import type { App } from '../http/app.ts'
import { createMcpServer, type McpServices } from '../mcp-server/server.ts'
import { UserId } from '../protocol/ids.ts'

export interface McpServerDependencies {
  services: McpServices
  version: string
}

export function registerMcpServerRoutes(
  app: App,
  { services, version }: McpServerDependencies,
): void {
  const handler = createMcpHandler(
    ({ authInfo, era }) => {
      if (authInfo === undefined) throw appError('sign_in_required')
      const userId = UserId.parse(authInfo.clientId)
      return createMcpServer(userId, services, { version, isModern: era === 'modern' })
    },
    { onerror: (error) => app.log.info({ err: error }, 'a request to the MCP server failed') },
  )
  const serve = toNodeHandler(handler)
  app.addHook('onClose', () => handler.close())

  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    reply.hijack()
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value)
    const auth = { token: '', clientId: request.user.id, scopes: [] }
    const { method = 'POST', url = '/mcp', headers } = request.raw
    const incoming = { method, url, headers, auth, [Symbol.asyncIterator]: noBody }
    await serve(incoming, reply.raw, request.body ?? undefined)
    return reply
  }
  // Streams are opened by clients of the earlier era only, for notifications that a server without sessions never sends.
  app.post('/mcp', { config: { stream: true }, schema: { hide: true } }, answer)
  app.get('/mcp', { schema: { hide: true } }, answer)
  app.delete('/mcp', { schema: { hide: true } }, answer)
}

/** Fastify has read the body already. */
async function* noBody(): AsyncGenerator<never> {}
