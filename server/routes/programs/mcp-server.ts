// NanoClaw as an MCP server: `/mcp`, streamable HTTP.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import type { McpHandler } from '../../mcp-server/handler.ts'
import type { McpServices } from '../../mcp-server/server.ts'

/** The dependencies of `/mcp`. */
export interface McpServerDependencies {
  services: McpServices
  version: string
}

/** `/mcp`. */
export function registerMcpServerRoutes(
  app: App,
  { services, version }: McpServerDependencies,
): void {
  let opened: Promise<McpHandler> | undefined
  // Loaded at the first request: the packages of the protocol are large, and most servers never use them.
  const open = (): Promise<McpHandler> =>
    (opened ??= import('../../mcp-server/handler.ts').then(({ createHandler }) =>
      createHandler(services, {
        version,
        onError: (error) => app.log.info({ err: error }, 'a request to the MCP server failed'),
      }),
    ))
  app.addHook('onClose', async () => (await opened)?.close())

  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { serve } = await open()
    reply.hijack()
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value)
    const actor = actorOf(request)
    const auth = { token: '', clientId: request.user.id, scopes: [], extra: { actor } }
    const { method = 'POST', url = '/mcp', headers } = request.raw
    const incoming = { method, url, headers, auth, [Symbol.asyncIterator]: noBody }
    await serve(incoming, reply.raw, request.body ?? undefined)
    return reply
  }
  // Only clients of the earlier protocol era open streams, for notifications that a server without sessions never sends.
  app.post('/mcp', { config: { stream: true }, schema: { hide: true } }, answer)
  app.get('/mcp', { schema: { hide: true } }, answer)
  app.delete('/mcp', { schema: { hide: true } }, answer)
}

/** An empty body, because Fastify has already read it. */
async function* noBody(): AsyncGenerator<never> {}
