// The dependencies of administering the whole server: runs, health, storage, settings, MCP servers.
import type { Access } from '../../access/access.ts'
import type { ServerSettingsService } from '../../access/server-settings.ts'
import type { SecretKeySources } from '../../auth/secret-keys.ts'
import type { ChatService } from '../../chat/chat-service.ts'
import type { Config } from '../../config/schema.ts'
import type { Store } from '../../db/store.ts'
import type { ModelCatalog } from '../../llm/catalog.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { AdminMcpDependencies } from '../../routes/admin/mcp-servers.ts'
import type { AdminServerDependencies } from '../../routes/admin/server.ts'
import type { WorkspaceServices } from '../../workspace/workspace-services.ts'
import { inspectOpenRegistration } from '../open-registration.ts'
import { inspectSecrets } from '../sealed-secrets.ts'
import { doctorSettings } from '../settings.ts'
import { installationPlaces } from '../storage/places.ts'
import { runningMcpServers } from '../tools/checked-mcp-servers.ts'
import { type McpModules, mcpAdministration } from './mcp-administration.ts'
import { createStorageReport } from './storage-report.ts'

interface Modules {
  config: Config
  store: Store
  catalog: Pick<ModelCatalog, 'resolve'>
  chat: ChatService
  workspace: WorkspaceServices
  access: Pick<Access, 'quota'>
}

interface Settings {
  secretKeys: SecretKeySources
  settings: ServerSettingsService
  webRoot: string
}

/** The dependencies of the routes under `/api/admin` that concern the whole server. */
export const administrationOf = (
  modules: Modules & McpModules,
  settings: Settings,
): { adminServer: AdminServerDependencies; adminMcp: AdminMcpDependencies } => ({
  adminServer: serverAdministration(modules, settings),
  adminMcp: mcpAdministration(modules),
})

const serverAdministration = (
  { config, store, catalog, chat, workspace, access, mcp }: Modules & Pick<McpModules, 'mcp'>,
  { settings, webRoot, secretKeys }: Settings,
): AdminServerDependencies => ({
  settings,
  async assertModel(id) {
    await catalog.resolve(id)
  },
  async listRuns() {
    const runs = await store.runs.unfinished()
    const names = new Map<UserId, string>()
    for (const id of new Set(runs.map(({ userId }) => userId)))
      names.set(id, (await store.users.find(id))?.username ?? '')
    return runs.map((run) => ({
      id: run.id,
      user_id: run.userId,
      username: names.get(run.userId) ?? '',
      model: run.model,
      kind: run.kind,
      status: run.status,
      iteration: run.iteration,
      started_at: (run.startedAt ?? run.createdAt).toISOString(),
    }))
  },
  async stopRun(id) {
    if (!(await store.runs.unfinished()).some((run) => run.id === id)) return false
    await chat.runs.stop(id, 'stopped')
    return true
  },
  reportStorage: createStorageReport({
    storage: store.storage,
    workspace,
    limitOf: (userId) => access.quota(userId).storage ?? config.limits.storage,
  }),
  async checkHealth(userId) {
    const { runChecks } = await import('../../doctor/doctor.ts')
    const findings = await runChecks({
      ...doctorSettings(config, webRoot),
      places: installationPlaces(config),
      inspectSecrets: () => inspectSecrets(config, secretKeys),
      inspectRegistration: () => inspectOpenRegistration(config),
      mcpServers: () => runningMcpServers(mcp, userId),
    })
    return findings.map(({ advice = null, ...finding }) => ({ ...finding, advice }))
  },
})
