// What the configuration means for each module, as plain values: modules do not know the configuration.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { NO_QUOTA, type Quota } from '../protocol/accounts/quota.ts'
import type { Feature } from '../protocol/admin/group.ts'
import { ConfigError } from './load.ts'
import { LOOPBACK } from './scalars.ts'
import type { Config } from './schema.ts'

/** Where the files of messages are. */
export const blobPlace = ({ data_dir, s3 }: Config) => ({
  folder: join(data_dir, 'blobs'),
  s3: s3 === undefined ? null : bucketOf(s3),
})

/** The bucket that backups are copied to; null if there is none. */
export const backupBucket = ({ backup }: Config) =>
  backup?.s3 === undefined ? null : bucketOf(backup.s3)

const bucketOf = (s3: NonNullable<Config['s3']>) => ({
  endpoint: s3.endpoint,
  bucket: s3.bucket,
  region: s3.region,
  accessKeyId: s3.access_key_id,
  secretAccessKey: s3.secret_access_key,
  prefix: s3.prefix,
})

/** How to connect to the configured database. */
export function databaseSettings(config: Config) {
  if (config.db_type === 'sqlite')
    return {
      dialect: 'sqlite' as const,
      file: config.db_sqlite_file ?? join(config.data_dir, 'nanoclaw.db'),
    }
  return {
    dialect: 'postgres' as const,
    embeddings: config.embeddings !== undefined,
    // A frozen instance must not lock the rows of its runs for longer than its lease is valid.
    ...(config.redis_url === undefined ? {} : { idleInTransactionMs: 5_000 }),
    connection:
      config.database_url === undefined
        ? {
            host: config.db_host,
            port: config.db_port,
            user: config.db_user ?? 'postgres',
            password: config.db_password ?? '',
            database: config.db_name,
          }
        : { url: config.database_url },
  }
}

/** Where the parts of the installation are. */
export function installationSettings(config: Config) {
  const { folder, s3 } = blobPlace(config)
  return {
    dataFolder: config.data_dir,
    workspaceRoot: config.workspace_root,
    database: databaseSettings(config),
    blobFolder: folder,
    bucket: s3,
    isShared: config.redis_url !== undefined,
  }
}

/** The endpoint for embeddings; null if none is configured. */
export const embeddingSettings = ({ embeddings }: Config) =>
  embeddings === undefined
    ? null
    : { apiUrl: embeddings.api_url, apiKey: embeddings.api_key, model: embeddings.model }

/** The service that orders found passages; null if none is configured. */
export const rerankSettings = ({ rerank }: Config) =>
  rerank === undefined
    ? null
    : {
        apiUrl: rerank.api_url,
        apiKey: rerank.api_key,
        model: rerank.model,
        candidates: rerank.candidates,
        form: rerank.form,
      }

/** The settings of runs; those that administrators can change are read again for each run. */
export const chatSettings = <Default>(
  { limits, ...config }: Config,
  server: { defaultApproval: Default },
) => ({
  maxIterations: config.max_iterations,
  toolMaxWorkers: config.tool_max_workers,
  listedMcpTools: config.tools.listed_mcp_tools,
  subAgents: {
    maxIterations: config.sub_agent.max_iterations,
    maxConcurrency: config.sub_agent.max_concurrency,
    maxTokens: config.sub_agent.max_tokens,
    timeout: config.sub_agent.timeout,
  },
  research: {
    maxIterations: config.research.max_iterations,
    minutes: config.research.minutes,
    subAgents: {
      maxIterations: config.research.sub_agent.max_iterations,
      timeout: config.research.sub_agent.timeout,
    },
  },
  unattendedDeadline: config.approval.deadline,
  approvalLinkHigh: config.approval.link_high,
  approvalChannelHigh: config.approval.channel_high,
  approvalDefault: server.defaultApproval,
  titles: config.titles,
  disconnectGrace: config.stream.disconnect_grace,
  messageCharacters: limits.message,
  attachmentBytes: limits.attachments,
  runMinutes: limits.run_minutes,
  temporaryIdleMs: limits.temporary_minutes * 60_000,
  runTokens: limits.run_tokens,
})

/** The proxies whose word on a client's address counts. Without `public_url` there is none, unless one is named. */
export const trustedProxies = (config: Config): readonly string[] =>
  config.trusted_proxies ?? (config.public_url === undefined ? [] : LOOPBACK)

/** The port of the files of apps; null for none. On a port that the system chooses for the page, there is no next one. */
export function appsPort({ apps, backend_port: page }: Config): number | null {
  const port = apps.port ?? (page === 0 || page >= 65_535 ? 0 : page + 1)
  return apps.enabled && port > 0 ? port : null
}

/** When backups are made by themselves; null if they are not. */
export const backupSchedule = ({ backup, data_dir }: Config) =>
  backup === undefined
    ? null
    : {
        everyMs: backup.every * 1_000,
        keep: backup.keep,
        folder: backup.to ?? join(data_dir, OUTGOING_BACKUPS),
        staysInFolder: backup.to !== undefined,
        bucket:
          backup.s3 === undefined ? null : { bucket: backup.s3.bucket, prefix: backup.s3.prefix },
        reserve: backup.reserve,
      }

/** The folder in `data_dir` of backups that are only in a bucket, while they are made and copied. */
const OUTGOING_BACKUPS = 'outgoing-backups'

/** Where copies of what a restore or an upgrade replaced are. */
export function copyPlaces(config: Config) {
  const database = databaseSettings(config)
  return {
    dataFolder: config.data_dir,
    workspaceRoot: config.workspace_root,
    databaseFile: database.dialect === 'sqlite' ? database.file : null,
  }
}

/** What decides who could register, besides the setting itself. */
export const registrationReach = ({ auth_mode, oidc, public_url }: Config) => ({
  hasAccounts: auth_mode === 'multi',
  takesPasswords: oidc === undefined || oidc.password_login,
  publicUrl: public_url,
})

/** The quota of users without an individual one or one of a group. */
export const defaultQuota = ({ limits }: Config): Quota => ({
  ...NO_QUOTA,
  tokens_per_day: limits.user_tokens_per_day ?? null,
  cost_per_month: limits.user_cost_per_month ?? null,
  concurrent_runs: limits.runs_per_user,
  storage: limits.storage,
})

/** The parts of the product that the server does not have. */
export const switchedOff = ({ apps, schedules }: Config): Feature[] => [
  ...(apps.enabled ? [] : ['apps' as const]),
  ...(schedules.enabled ? [] : ['schedules' as const]),
]

/** Limits of projects and of their history. */
export const workspaceSettings = ({ workspace_root: root, limits, checkpoints }: Config) => ({
  root,
  searchTimeoutMs: limits.search_seconds * 1000,
  limits: {
    fileRead: limits.file_read,
    fileWrite: limits.file_write,
    project: limits.project,
    entries: limits.project_files,
  },
  rule: {
    keep: checkpoints.keep,
    maxAgeDays: checkpoints.max_age_days,
    maxBytes: checkpoints.max_size,
  },
})

/** The configured folder with skills of the server. @throws ConfigError if it does not exist. */
export function skillFolders({ skills_dir: folder }: Config): string[] {
  if (folder === undefined) return []
  if (!existsSync(folder))
    throw new ConfigError([`skills_dir: the folder ${folder} does not exist`])
  return [folder]
}

/** Whether and how schedules run. */
export const clockSettings = ({ schedules }: Config) => ({
  isEnabled: schedules.enabled,
  catchUpHours: schedules.catch_up_hours,
  maxFailures: schedules.max_failures,
  keepRuns: schedules.keep_runs,
})

/** Where apps are served. */
export const appOrigin = ({ apps, public_url, backend_port }: Config) => ({
  url: apps.url,
  publicUrl: public_url,
  pagePort: backend_port,
})

/** The sandbox of Python programs. */
export const pythonSettings = ({ code_execution: python, auth_mode, data_dir }: Config) => ({
  engine: python.engine,
  isolation: python.isolation,
  multiUser: auth_mode === 'multi',
  poolSize: python.pool_size,
  poolIdleMs: python.pool_idle * 1000,
  compiledFolder: join(data_dir, 'python'),
  packagesFolder: python.packages_dir ?? null,
  extraModules: python.extra_allowed_modules,
})

/** The addresses that web access, webhooks and MCP servers may reach. */
export const outboundRules = ({ network }: Config) => ({
  allowPrivate: network.allow_private,
  allowPorts: network.allow_ports,
})

/** The providers of web search and weather, with their keys. */
export const toolSettings = ({ web_search, weather }: Config) => ({
  webSearch: {
    provider: web_search.provider,
    providers: web_search.providers,
    apiKey: web_search.api_key,
    url: web_search.url,
    duckduckgoUrl: web_search.duckduckgo_url,
    braveUrl: web_search.brave_url,
  },
  weather: {
    provider: weather.provider,
    apiKey: weather.api_key,
    geocodingUrl: weather.geocoding_url,
    forecastUrl: weather.forecast_url,
    openweathermapUrl: weather.openweathermap_url,
  },
})

/** Single sign-on: its issuer, and what follows from the groups that it names. */
export const oidcSettings = (oidc: NonNullable<Config['oidc']>) => ({
  issuer: oidc.issuer,
  clientId: oidc.client_id,
  clientSecret: oidc.client_secret,
  name: oidc.name,
  scopes: oidc.scopes,
  claims: oidc.claims,
  adminGroups: oidc.admin_groups,
  allowedGroups: oidc.allowed_groups,
  groups: new Map(Object.entries(oidc.groups)),
  autoCreate: oidc.auto_create,
  linkByEmail: oidc.link_by_email,
  breakGlass: oidc.break_glass,
})

/** From which origins the page and programs may send requests. */
export const originRules = (config: Config) => ({
  mode: config.auth_mode,
  trustedHosts: config.trusted_hosts,
  listenHost: config.host,
  frontendPort: config.frontend_port,
  ...(config.public_url === undefined ? {} : { publicUrl: config.public_url }),
  ...(config.cors_origins === undefined ? {} : { corsOrigins: config.cors_origins }),
})

/** Limits of requests and connections. */
export const httpBounds = (config: Config) => ({
  bodyLimit: config.limits.json_body,
  jsonDepth: config.limits.json_depth,
  pageItems: config.limits.page_items,
  streamsPerUser: config.limits.streams_per_user,
  connectionsPerAddress: config.limits.connections_per_address,
  refusesWhileClosing: config.redis_url === undefined,
  // A response that is not streamed starts when the run has ended.
  silentConnectionMs: (config.limits.run_minutes + 1) * 60_000,
  spoolFolder: join(config.data_dir, 'responses'),
})

/** The folder of exports and imports in progress. */
export const transferFolder = ({ data_dir }: Pick<Config, 'data_dir'>): string =>
  join(data_dir, 'transfers')

/** Where traces of runs go, and as what; null if they are not sent. */
export const tracingSettings = ({ tracing }: Config) =>
  tracing === undefined
    ? null
    : {
        endpoint: tracing.endpoint,
        headers: tracing.headers,
        serviceName: tracing.service_name,
      }

/** The services for speech and images. */
export const mediaSettings = ({ speech, image_generation }: Config) => ({
  transcribe: speech.transcribe,
  speak: speech.speak,
  images: image_generation,
})

/** The service that generates images; null if none is configured. */
export const imageSettings = ({ image_generation: images }: Config) =>
  images === undefined
    ? null
    : {
        apiUrl: images.api_url,
        apiKey: images.api_key,
        model: images.model,
        price: images.price ?? null,
        timeoutMs: images.timeout * 1_000,
      }

/** How people sign in besides with a password, for the page. */
export const signInOffer = ({ oidc, public_url }: Config) => ({
  ...(oidc === undefined || public_url === undefined ? {} : { oidc: oidc.name }),
  ...(oidc?.password_login === false ? { password_off: true as const } : {}),
})

/** What one request may carry. */
export const requestBounds = ({ limits }: Config) => ({
  attachment: limits.attachments,
  document: limits.file_write,
  import: limits.import,
  message: limits.message,
  upload: limits.upload,
  uploadFiles: limits.upload_files,
})

/** The folders whose disks are measured. */
export const measuredFolders = ({ data_dir, workspace_root, backup }: Config) => ({
  data: data_dir,
  workspaces: workspace_root,
  ...(backup?.to === undefined ? {} : { backups: backup.to }),
})
