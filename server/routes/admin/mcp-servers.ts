// Routes for administrators: MCP servers and who may use them.

import { z } from 'zod'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import {
  AcceptMcpToolBody,
  AdminMcpServer,
  CreateMcpServerBody,
  McpServerTest,
  PatchMcpServerBody,
  TestMcpServerBody,
} from '../../protocol/admin/mcp-server.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import { McpServerName } from '../../protocol/models/mcp.ts'
import type { Services } from '../../services.ts'
import { deleted, success } from '../envelope.ts'

const List = envelope(z.object({ items: z.array(AdminMcpServer) }))
const Params = z.object({ name: McpServerName })

/** `/api/admin/mcp`. */
export function registerAdminMcpRoutes(
  app: App,
  services: Pick<Services, 'mcpServers' | 'mcpAdministration'>,
): void {
  registerList(app, services)
  registerOne(app, services)
}

/** Lists, adds and tests servers. */
function registerList(
  app: App,
  {
    mcpServers: servers,
    mcpAdministration: { list, test, add },
  }: Pick<Services, 'mcpServers' | 'mcpAdministration'>,
): void {
  app.get(
    '/api/admin/mcp',
    {
      config: { admin: true },
      schema: {
        summary: 'List MCP servers with their settings and permitted users',
        description: 'Includes disabled servers; omits the values of headers.',
        response: { 200: List },
      },
    },
    async ({ user }) => success({ items: await list(user.id) }),
  )

  app.post(
    '/api/admin/mcp',
    {
      config: { admin: true },
      schema: {
        summary: 'Add an MCP server by URL',
        description: 'Connects to the server in the background; the list shows its state.',
        body: CreateMcpServerBody,
        response: { 200: List },
      },
    },
    async (request) => {
      await add(actorOf(request), request.body)
      return success({ items: await list(request.user.id) })
    },
  )

  app.post(
    '/api/admin/mcp/test',
    {
      config: { admin: true },
      schema: {
        summary: 'Connect to an MCP server once and list its tools',
        description:
          'Give the `name` of a configured server, with optional changes that are not stored, or the settings of a new one.',
        body: TestMcpServerBody,
        response: { 200: envelope(McpServerTest) },
      },
    },
    async ({ body: { name, ...given }, raw }) => {
      const disconnected = new AbortController()
      const onClose = () => disconnected.abort()
      raw.socket.once('close', onClose)
      try {
        return success(await test(name, servers.settingsToTry(name, given), disconnected.signal))
      } finally {
        raw.socket.off('close', onClose)
      }
    },
  )
}

/** Changes and deletes one server. */
function registerOne(
  app: App,
  { mcpAdministration: { list, accept, change, remove } }: Pick<Services, 'mcpAdministration'>,
): void {
  app.post(
    '/api/admin/mcp/:name/changed-tools',
    {
      config: { admin: true },
      schema: {
        summary:
          'Let the risk level in `tools.risk` apply to a tool that describes itself differently',
        description: 'Takes `tool` and `key` as `changed_tools` lists them.',
        params: Params,
        body: AcceptMcpToolBody,
        response: { 200: List },
      },
    },
    async (request) => {
      await accept(actorOf(request), request.params.name, request.body)
      return success({ items: await list(request.user.id) })
    },
  )

  app.patch(
    '/api/admin/mcp/:name',
    {
      config: { admin: true },
      schema: {
        summary:
          'Update an added MCP server, or enable or disable any or its tools; `null` clears a field',
        params: Params,
        body: PatchMcpServerBody,
        response: { 200: List },
      },
    },
    async (request) => {
      await change(actorOf(request), request.params.name, request.body)
      return success({ items: await list(request.user.id) })
    },
  )

  app.delete(
    '/api/admin/mcp/:name',
    {
      config: { admin: true },
      schema: {
        summary: 'Delete an added MCP server and all sign-ins to it',
        params: Params,
        response: { 200: Deleted },
      },
    },
    async (request) => {
      await remove(actorOf(request), request.params.name)
      return deleted
    },
  )
}
