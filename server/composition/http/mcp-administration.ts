// How administrators see and test MCP servers.
import type { LoweredRisks } from '../../access/lowered-risks.ts'
import type { McpServerCatalog } from '../../access/mcp-servers.ts'
import type { Config } from '../../config/schema.ts'
import type { Store } from '../../db/store.ts'
import { appError } from '../../errors.ts'
import type { AdminMcpServer } from '../../protocol/admin/mcp-server.ts'
import { storedFailure } from '../../protocol/failures/stored.ts'
import type { McpServerSettings } from '../../protocol/models/mcp.ts'
import { isLowerRisk, type RiskLevel } from '../../protocol/runs/run-event.ts'
import type { AdminMcpDependencies } from '../../routes/admin/mcp-servers.ts'
import type { ToolModule } from '../tools/tools.ts'

/** The modules that the administration of MCP servers uses. */
export interface McpModules {
  config: Config
  mcpServers: McpServerCatalog
  mcp: Pick<ToolModule['mcp'], 'prepare' | 'listAll' | 'test'>
  registry: ToolModule['registry']
  loweredRisks: Pick<LoweredRisks, 'waiting' | 'accept' | 'wouldApply'>
  store: Store
}

/** A tool as its server describes it. */
type TriedTool = Awaited<ReturnType<McpModules['mcp']['test']>>['tools'][number]

/** The dependencies of the routes under `/api/admin/mcp`. */
export const mcpAdministration = ({
  config,
  mcpServers,
  mcp,
  registry,
  loweredRisks,
  store,
}: McpModules): AdminMcpDependencies => ({
  servers: mcpServers,
  async list(userId) {
    await mcp.prepare(userId)
    const { groups } = await store.groups.all()
    const states = new Map(mcp.listAll(userId).map((server) => [server.name, server]))
    const offered = registry.snapshot(userId)
    /** Without those that a server no longer says, if it says the same to everybody. */
    const changedTools = (server: string): AdminMcpServer['changed_tools'] =>
      Object.entries(config.tools.risk)
        .filter(([tool]) => tool.startsWith(`mcp__${server}__`))
        .flatMap(([tool, risk]) =>
          loweredRisks
            .waiting(tool)
            .filter(
              ({ key }) =>
                states.get(server)?.auth !== 'none' || offered.get(tool)?.grantKey === key,
            )
            .map((changed) => ({ tool, risk, ...changed })),
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
        groups: groups
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
  async accept(server, { tool, key }) {
    if (!tool.startsWith(`mcp__${server}__`)) throw appError('tool_changed_again')
    await loweredRisks.accept(tool, key)
  },
  async test(name, settings, signal) {
    const { tools, ...outcome } = await mcp.test(name, settings, signal)
    const levels = new Map(Object.entries(config.tools.risk))
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
})

const oauthOf = (settings: McpServerSettings | null) => {
  if (settings?.oauth === undefined) return null
  const { client_id, client_secret, scope } = settings.oauth
  return {
    client_id: client_id ?? null,
    has_secret: client_secret !== undefined,
    scope: scope ?? null,
  }
}
