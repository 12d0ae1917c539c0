// The checks of the doctor, as configured. Its modules are loaded only when it is asked.
import type { SecretKeySources } from '../auth/secret-keys.ts'
import type { Config } from '../config/schema.ts'
import {
  backupBucket,
  backupSchedule,
  blobPlace,
  copyPlaces,
  databaseSettings,
  embeddingSettings,
  installationSettings,
  registrationReach,
  rerankSettings,
} from '../config/settings.ts'
import { type EnvironmentKeys, withEnvironmentKey } from '../llm/environment-keys.ts'
import type { HealthFinding } from '../protocol/admin/server.ts'
import type { UserId } from '../protocol/ids.ts'
import type { McpServers } from '../tools/mcp/servers.ts'
import type { CheckedMcpServer } from './check-mcp.ts'
import type { Finding } from './finding.ts'

/** Checks everything that a start needs, and changes nothing. */
export async function runDoctor(
  config: Config,
  {
    webRoot,
    secretKeys,
    environmentKeys,
    mcpServers,
  }: {
    webRoot: string
    secretKeys: SecretKeySources
    environmentKeys: EnvironmentKeys
    mcpServers(): Promise<CheckedMcpServer[]>
  },
): Promise<Finding[]> {
  const { runChecks } = await import('./doctor.ts')
  const { filesLeftElsewhere, installationPlaces } = await import('../owner/places.ts')
  const { inspectSecrets } = await import('../administration/sealed-secrets.ts')
  const { inspectOpenRegistration } = await import('../access/open-registration.ts')
  const installation = installationSettings(config)
  const database = databaseSettings(config)
  const reach = registrationReach(config)
  return await runChecks({
    database,
    dataDirectory: config.data_dir,
    blobs: blobPlace(config),
    workspaceRoot: config.workspace_root,
    webRoot,
    redisUrl: config.redis_url ?? null,
    publicUrl: config.public_url ?? null,
    embeddings: embeddingSettings(config),
    rerank: rerankSettings(config),
    smtp: config.smtp ?? null,
    python: {
      isolation: config.code_execution.isolation,
      multiUser: config.auth_mode === 'multi',
      engine: config.code_execution.engine,
      packagesFolder: config.code_execution.packages_dir ?? null,
    },
    shell: config.tools.exec,
    copies: { places: copyPlaces(config), days: config.replaced_days },
    backups: { schedule: backupSchedule(config), bucket: backupBucket(config) },
    models: config.models.map((model) => withEnvironmentKey(model, environmentKeys)),
    places: installationPlaces(installation),
    filesFault: () => filesLeftElsewhere(installation),
    inspectSecrets: () => inspectSecrets(installation, secretKeys),
    inspectRegistration: () => inspectOpenRegistration(reach, config.registration, database),
    mcpServers,
  })
}

/** The same for an administrator of a running server, with the MCP servers as they reach them. */
export const createHealthCheck =
  ({
    config,
    mcp,
    ...given
  }: {
    config: Config
    webRoot: string
    secretKeys: SecretKeySources
    environmentKeys: EnvironmentKeys
    mcp: Pick<McpServers, 'prepare' | 'listAll'>
  }) =>
  async (userId: UserId): Promise<HealthFinding[]> => {
    const { runningMcpServers } = await import('./mcp-servers.ts')
    const mcpServers = () => runningMcpServers(mcp, userId)
    const findings = await runDoctor(config, { ...given, mcpServers })
    return findings.map(({ advice = null, ...finding }) => ({ ...finding, advice }))
  }
