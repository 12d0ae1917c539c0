// Routes for administrators: MCP servers and who may use them.
import { z } from 'zod'
import type { McpServerCatalog } from '../../access/mcp-servers.ts'
import type { App } from '../../http/app.ts'
import {
  AcceptMcpToolBody,
  AdminMcpServer,
  CreateMcpServerBody,
  McpServerTest,
  PatchMcpServerBody,
  TestMcpServerBody,
} from '../../protocol/admin/mcp-server.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import type { UserId } from '../../protocol/ids.ts'
import { McpServerName, type McpServerSettings } from '../../protocol/models/mcp.ts'
import { deleted, success } from '../envelope.ts'

/** The dependencies of the routes with which administrators manage MCP servers. */
export interface AdminMcpDependencies {
  servers: Pick<McpServerCatalog, 'add' | 'change' | 'remove' | 'settingsToTry'>
  /** All servers, as an administrator sees them. */
  list(userId: UserId): Promise<AdminMcpServer[]>
  /** Lets the lowered risk level of a tool apply to its new description. @throws AppError if it has changed again. */
  accept(server: string, changed: AcceptMcpToolBody): Promise<void>
  /** Connects to a server once. */
  test(name: string, settings: McpServerSettings, signal: AbortSignal): Promise<McpServerTest>
}

const List = envelope(z.object({ items: z.array(AdminMcpServer) }))
const Params = z.object({ name: McpServerName })

/** `/api/admin/mcp`. */
export function registerAdminMcpRoutes(app: App, dependencies: AdminMcpDependencies): void {
  registerList(app, dependencies)
  registerOne(app, dependencies)
}

/** Lists, adds and tests servers. */
function registerList(app: App, { servers, list, test }: AdminMcpDependencies): void {
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
      config: {
        admin: true,
        audit: {
          action: 'mcp_server_added',
          fields: ['name', 'enabled', 'trust_hints', 'users'],
        },
      },
      schema: {
        summary: 'Add an MCP server by URL',
        description: 'Connects to the server in the background; the list shows its state.',
        body: CreateMcpServerBody,
        response: { 200: List },
      },
    },
    async ({ user, body: { name, enabled = true, ...given } }) => {
      await servers.add(name, given, enabled)
      return success({ items: await list(user.id) })
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
function registerOne(app: App, { servers, list, accept }: AdminMcpDependencies): void {
  app.post(
    '/api/admin/mcp/:name/changed-tools',
    {
      config: { admin: true, audit: { action: 'mcp_server_changed', fields: ['tool', 'key'] } },
      schema: {
        summary:
          'Let the risk level in `tools.risk` apply to a tool that describes itself differently',
        description: 'Takes `tool` and `key` as `changed_tools` lists them.',
        params: Params,
        body: AcceptMcpToolBody,
        response: { 200: List },
      },
    },
    async ({ user, params: { name }, body }) => {
      await accept(name, body)
      return success({ items: await list(user.id) })
    },
  )

  app.patch(
    '/api/admin/mcp/:name',
    {
      config: {
        admin: true,
        audit: { action: 'mcp_server_changed', fields: ['enabled', 'trust_hints', 'users'] },
      },
      schema: {
        summary:
          'Update an added MCP server, or enable or disable any or its tools; `null` clears a field',
        params: Params,
        body: PatchMcpServerBody,
        response: { 200: List },
      },
    },
    async ({ user, params: { name }, body }) => {
      await servers.change(name, body)
      return success({ items: await list(user.id) })
    },
  )

  app.delete(
    '/api/admin/mcp/:name',
    {
      config: { admin: true, audit: { action: 'mcp_server_deleted' } },
      schema: {
        summary: 'Delete an added MCP server and all sign-ins to it',
        params: Params,
        response: { 200: Deleted },
      },
    },
    async ({ params: { name } }) => {
      await servers.remove(name)
      return deleted
    },
  )
}
