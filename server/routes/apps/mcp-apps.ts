// Routes of apps of MCP servers: their documents, and the domains that people allow them.
import { z } from 'zod'
import { frameAddress } from '../../apps/mcp-apps.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import { envelope } from '../../protocol/envelope.ts'
import {
  McpApp,
  McpAppDomainList,
  McpAppDomains,
  McpAppDomainsBody,
  McpAppUri,
} from '../../protocol/mcp-app.ts'
import { McpServerName } from '../../protocol/models/mcp.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'
import { pageOriginOf } from './apps.ts'

const tags = ['apps']

/** `/api/mcp/apps/:server[/domains]`. */
export function registerMcpAppRoutes(
  app: App,
  {
    mcp,
    apps,
    appsOrigin,
    mcpApps,
    publicUrl,
  }: Pick<Services, 'mcp' | 'apps' | 'appsOrigin' | 'mcpApps' | 'publicUrl'>,
): void {
  const params = z.object({ server: McpServerName })

  app.get(
    '/api/mcp/apps/:server',
    {
      schema: {
        summary: 'Read the app of an MCP server',
        description:
          'Only addresses that a tool of the server or its list of resources names. The document is text from outside: show it only in a frame at `url`, as docs/apps.md describes.',
        tags,
        params,
        querystring: z.object({ uri: McpAppUri }),
        response: { 200: envelope(McpApp) },
      },
    },
    async (request) => {
      const { user, params: one, query } = request
      apps.assertAllowed(user.id)
      await mcp.prepare(user.id)
      const found = await mcp.readApp(user.id, one.server, query.uri)
      const isAllowed = await mcpApps.areAllowed(user.id, one.server, found.csp)
      const origin = appsOrigin.of(request)
      return success({
        ...found,
        domains_allowed: isAllowed,
        url:
          origin === null
            ? null
            : frameAddress(
                { appsOrigin: origin, pageOrigin: pageOriginOf(request, publicUrl) },
                found.csp,
                isAllowed,
              ),
      })
    },
  )

  app.get(
    '/api/mcp/apps/:server/domains',
    {
      schema: {
        summary: 'List the domains that you have allowed the apps of an MCP server',
        description: 'Newest first, at most 500 lists. Also of a server that is switched off.',
        tags,
        params,
        response: { 200: envelope(McpAppDomainList) },
      },
    },
    async ({ user, params: one }) => {
      apps.assertAllowed(user.id)
      const found = await mcpApps.list(user.id, one.server)
      if (found.length === 0) await mcp.assertKnown(user.id, one.server)
      return success({
        items: found.map(({ domains, allowedAt }) => ({
          domains: [...domains],
          allowed_at: allowedAt.toISOString(),
        })),
      })
    },
  )

  app.put(
    '/api/mcp/apps/:server/domains',
    {
      config: { signedIn: true },
      schema: {
        summary: 'Allow the apps of an MCP server to reach domains, or no longer',
        description:
          'Holds for this user, this server and exactly this list. Frames that are open keep what they had.',
        tags,
        params,
        body: McpAppDomainsBody,
        response: { 200: envelope(McpAppDomains) },
      },
    },
    async (request) => {
      const { user, params: one, body } = request
      apps.assertAllowed(user.id)
      // What was allowed can be ended also when the server is gone.
      const hasSomethingToEnd =
        !body.allowed && (await mcpApps.list(user.id, one.server)).length > 0
      if (!hasSomethingToEnd) await mcp.assertKnown(user.id, one.server)
      const place = { userId: user.id, server: one.server }
      return success(await mcpApps.setDomains(place, body, actorOf(request)))
    },
  )
}
