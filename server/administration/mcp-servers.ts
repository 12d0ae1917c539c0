// How administrators see and test MCP servers.
import type { z } from 'zod'
import type { LoweredRisks } from '../access/lowered-risks.ts'
import type { McpServerCatalog } from '../access/mcp-servers.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import { type Actor, auditedFields } from '../protocol/admin/audit.ts'
import type {
  AcceptMcpToolBody,
  AdminMcpServer,
  CreateMcpServerBody,
  McpServerTest,
  PatchMcpServerBody,
} from '../protocol/admin/mcp-server.ts'
import { storedFailure } from '../protocol/failures/stored.ts'
import type { UserId } from '../protocol/ids.ts'
import type { McpServerSettings } from '../protocol/models/mcp.ts'
import { isLowerRisk, type RiskLevel } from '../protocol/runs/run-event.ts'
import type { McpServers } from '../tools/mcp/servers.ts'
import type { ToolRegistry } from '../tools/registry.ts'

/** What the administration of MCP servers uses. */
export interface McpAdministrationOptions {
  /** The configured risk levels of tools. */
  risk: Readonly<Record<string, RiskLevel>>
  mcpServers: McpServerCatalog
  mcp: Pick<McpServers, 'prepare' | 'listAll' | 'test'>
  registry: Pick<ToolRegistry, 'snapshot'>
  loweredRisks: Pick<LoweredRisks, 'waiting' | 'accept' | 'wouldApply'>
  groups: Pick<Store['groups'], 'all'>
  audit: Pick<Store['audit'], 'record'>
}

/** How administrators see, accept and test MCP servers. */
export interface McpAdministration {
  /** All servers, as an administrator sees them. */
  list(userId: UserId): Promise<AdminMcpServer[]>
  /** This and the acts below add their audit entry. @throws AppError `mcp_server_name_taken`, `mcp_url_missing`. */
  add(actor: Actor, server: z.output<typeof CreateMcpServerBody>): Promise<void>
  /** Of a configured server, only the switches of it and its tools can change. @throws AppError. */
  change(actor: Actor, name: string, given: PatchMcpServerBody): Promise<void>
  /** @throws AppError if no added server has this name. */
  remove(actor: Actor, name: string): Promise<void>
  /** Lets the lowered risk level of a tool apply to its new description. @throws AppError if it has changed again. */
  accept(actor: Actor, server: string, changed: AcceptMcpToolBody): Promise<void>
  /** Connects to a server once. */
  test(name: string, settings: McpServerSettings, signal: AbortSignal): Promise<McpServerTest>
}

/** A tool as its server describes it. */
type TriedTool = Awaited<ReturnType<McpServers['test']>>['tools'][number]

/** Reads and changes the catalog of MCP servers and the running connections to them. */
export function createMcpAdministration(options: McpAdministrationOptions): McpAdministration {
  return {
    ...seeServers(options),
    ...changeServers(options),
  }
}

/** What administrators see of servers. */
function seeServers({
  risk,
  mcpServers,
  mcp,
  registry,
  loweredRisks,
  groups,
}: McpAdministrationOptions): Pick<McpAdministration, 'list' | 'test'> {
  return {
    async list(userId) {
      await mcp.prepare(userId)
      const { groups: all } = await groups.all()
      const states = new Map(mcp.listAll(userId).map((server) => [server.name, server]))
      const offered = registry.snapshot(userId)
      /** Without those that a server no longer says, if it says the same to everybody. */
      const changedTools = (server: string): AdminMcpServer['changed_tools'] =>
        Object.entries(risk)
          .filter(([tool]) => tool.startsWith(`mcp__${server}__`))
          .flatMap(([tool, level]) =>
            loweredRisks
              .waiting(tool)
              .filter(
                ({ key }) =>
                  states.get(server)?.auth !== 'none' || offered.get(tool)?.grantKey === key,
              )
              .map((changed) => ({ tool, risk: level, ...changed })),
          )
      return mcpServers.list().map(({ name, source, isEnabled, settings }) => {
        const isUnreadable = settings === null
        const failure = isUnreadable ? storedFailure('mcp_settings_unreadable') : null
        return {
          name,
          transport: settings?.command === undefined ? ('http' as const) : ('stdio' as const),
          auth: 'none' as const,
          era: null,
          tools: [],
          error: failure?.message ?? null,
          reason: failure?.reason ?? null,
          params: failure?.params ?? null,
          problems: [],
          output: null,
          tool_tokens: 0,
          ...states.get(name),
          changed_tools: changedTools(name),
          state: isEnabled
            ? (states.get(name)?.state ?? (isUnreadable ? 'waiting' : 'connecting'))
            : 'off',
          users: settings?.users ?? null,
          groups: all
            .filter(({ permissions }) => permissions.mcp_servers?.includes(name) === true)
            .map((group) => group.name),
          source,
          url: source === 'store' ? (settings?.url ?? null) : null,
          headers: source === 'store' ? Object.keys(settings?.headers ?? {}) : [],
          trust_hints: settings?.trust_hints === true,
          oauth: source === 'store' ? oauthOf(settings) : null,
          needs_settings: isUnreadable,
        }
      })
    },
    async test(name, settings, signal) {
      const { tools, ...outcome } = await mcp.test(name, settings, signal)
      const levels = new Map(Object.entries(risk))
      const levelOf = ({ name, riskLevel, grantKey = name }: TriedTool): RiskLevel => {
        const level = levels.get(name) ?? riskLevel
        const applies =
          !isLowerRisk(level, riskLevel) || loweredRisks.wouldApply({ name, grantKey }, level)
        return applies ? level : riskLevel
      }
      return {
        ...outcome,
        tools: tools.map((tool) => ({
          name: tool.name,
          description: tool.description,
          risk: levelOf(tool),
        })),
      }
    },
  }
}

/** What administrators change, each with its audit entry. */
function changeServers({
  mcpServers,
  loweredRisks,
  audit,
}: McpAdministrationOptions): Pick<McpAdministration, 'add' | 'change' | 'remove' | 'accept'> {
  return {
    add: (actor, { name, enabled = true, ...given }) =>
      mcpServers.add(name, given, enabled, (tx) =>
        audit.record(tx, actor, {
          action: 'mcp_server_added',
          at: new Date(),
          details: auditedFields({ ...given, name, enabled }, [
            'name',
            'enabled',
            'trust_hints',
            'users',
          ]),
        }),
      ),
    change: (actor, name, given) =>
      mcpServers.change(name, given, (tx) =>
        audit.record(tx, actor, {
          action: 'mcp_server_changed',
          at: new Date(),
          details: { name, ...auditedFields(given, ['enabled', 'trust_hints', 'users']) },
        }),
      ),
    remove: (actor, name) =>
      mcpServers.remove(name, (tx) =>
        audit.record(tx, actor, {
          action: 'mcp_server_deleted',
          at: new Date(),
          details: { name },
        }),
      ),
    async accept(actor, server, { tool, key }) {
      if (!tool.startsWith(`mcp__${server}__`)) throw appError('tool_changed_again')
      await loweredRisks.accept(tool, key, (tx) =>
        audit.record(tx, actor, {
          action: 'mcp_server_changed',
          at: new Date(),
          details: { name: server, tool, key },
        }),
      )
    },
  }
}

const oauthOf = (settings: McpServerSettings | null) => {
  if (settings?.oauth === undefined) return null
  const { client_id, client_secret, scope } = settings.oauth
  return {
    client_id: client_id ?? null,
    has_secret: client_secret !== undefined,
    scope: scope ?? null,
  }
}
