// NanoClaw as an MCP server: `/mcp`, streamable HTTP.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import type { McpHandler } from '../../mcp-server/handler.ts'
import { createMcpServices } from '../../mcp-server/services.ts'
import type { Services } from '../../services.ts'

/** A client of the earlier protocol era cancels a request. */
const Cancellation = z.object({
  method: z.literal('notifications/cancelled'),
  params: z.object({ requestId: z.union([z.string(), z.number()]) }),
})

/** `/mcp`. */
export function registerMcpServerRoutes(
  app: App,
  {
    chat,
    store,
    search,
    workspace,
    bodyBox,
    version,
  }: Pick<Services, 'chat' | 'store' | 'search' | 'workspace' | 'bodyBox' | 'version'>,
): void {
  const services = createMcpServices({ chat, store, search, workspace, box: bodyBox })
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
    const cancelled = Cancellation.safeParse(request.body).data
    if (cancelled !== undefined) services.cancel(request.user.id, cancelled.params.requestId)
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
  // Other servers have the slash at the end, and people type what they know.
  for (const path of ['/mcp', '/mcp/']) {
    app.post(path, { config: { stream: true }, schema: { hide: true } }, answer)
    // Only clients of the earlier protocol era open streams, for notifications that a server without sessions never sends.
    app.get(path, { schema: { hide: true } }, answer)
    app.delete(path, { schema: { hide: true } }, answer)
  }
}

/** An empty body, because Fastify has already read it. */
async function* noBody(): AsyncGenerator<never> {}
