// The services of a running server as one flat record. Routes say which of them they use.
import type { z } from 'zod'
import type { Access } from './access/access.ts'
import type { McpServerCatalog } from './access/mcp-servers.ts'
import type { ServerSettingsService } from './access/server-settings.ts'
import type { McpAdministration } from './administration/mcp-servers.ts'
import type { StorageReport } from './administration/storage-report.ts'
import type { Apps } from './apps/apps.ts'
import type { Components } from './apps/components.ts'
import type { AppLibraries } from './apps/libraries.ts'
import type { McpApps } from './apps/mcp-apps.ts'
import type { AppsOrigin } from './apps/origin.ts'
import type { AccountLinks } from './auth/account-links.ts'
import type { Accounts } from './auth/accounts.ts'
import type { ApiKeys } from './auth/api-keys.ts'
import type { RecordAudit } from './auth/audit-recorder.ts'
import type { EmailLinks } from './auth/email-links.ts'
import type { KnownBrowsers } from './auth/known-browsers.ts'
import type { OidcSignIn } from './auth/oidc/sign-in.ts'
import type { Passwords } from './auth/passwords.ts'
import type { Passkeys } from './auth/second-factor/passkeys.ts'
import type { SecondFactors } from './auth/second-factor/second-factors.ts'
import type { SecretBox } from './auth/secret-box.ts'
import type { Sessions } from './auth/sessions.ts'
import type { SetupToken } from './auth/setup-token.ts'
import type { ChangeLog } from './changes/change-log.ts'
import type { Background } from './chat/background.ts'
import type { ChatService } from './chat/chat-service.ts'
import type { Database } from './db/database.ts'
import type { Store } from './db/store.ts'
import type { AttachmentReader } from './files/attachment-contents.ts'
import type { BlobStore } from './files/blobs.ts'
import type { FileService } from './files/files.ts'
import type { OpenConnections } from './http/open-connections.ts'
import type { UploadSlots } from './http/upload-slots.ts'
import type { Knowledge } from './knowledge/knowledge.ts'
import type { Memory } from './knowledge/memory.ts'
import type { ProgramEmbeddings } from './knowledge/program-embeddings.ts'
import type { Limits } from './lib/limits.ts'
import type { ModelCatalog } from './llm/catalog.ts'
import type { EnvironmentKeys } from './llm/environment-keys.ts'
import type { ModelProbe } from './llm/probe.ts'
import type { ProgramImages } from './media/program-images.ts'
import type { Speech } from './media/speech.ts'
import type { Channels } from './messaging/channels.ts'
import type { Push } from './messaging/push.ts'
import type { Webhooks } from './messaging/webhooks.ts'
import type { OfferedModels } from './models/offered-models.ts'
import type { QuotaReport, StorageUse } from './protocol/accounts/quota.ts'
import type { AuthMode } from './protocol/accounts/user.ts'
import type { HealthFinding } from './protocol/admin/server.ts'
import type { UserId } from './protocol/ids.ts'
import type { ModelSettings } from './protocol/models/catalog.ts'
import type { Receipts } from './receipts/receipts.ts'
import type { BridgeInbox } from './receiving/bridge.ts'
import type { Receiving } from './receiving/receiving.ts'
import type { Senders } from './receiving/senders.ts'
import type { RunRecordReader } from './runs/inspection/read-record.ts'
import type { ScheduleClock } from './schedules/clock.ts'
import type { Hooks } from './schedules/hooks.ts'
import type { Schedules } from './schedules/schedules.ts'
import type { Search } from './search/search.ts'
import type { MarkdownRenderer } from './sharing/markdown.ts'
import type { Shares } from './sharing/shares.ts'
import type { Consents } from './skills/consents.ts'
import type { Skills } from './skills/skills.ts'
import type { RunPython } from './tools/builtin/programs/run-python.ts'
import type { McpServers } from './tools/mcp/servers.ts'
import type { ToolRegistry } from './tools/registry.ts'
import type { TransferJobs } from './transfer/jobs.ts'
import type { MemberDependencies } from './workspace/change-members.ts'
import type { WorkspaceServices } from './workspace/workspace-services.ts'

/** What a request may contain at most, in bytes unless it says otherwise. */
export interface RequestBounds {
  /** An attached file. */
  attachment: number
  /** A document of a project. */
  document: number
  /** An imported file. */
  import: number
  /** A message, in characters. */
  message: number
  /** An uploaded folder. */
  upload: number
  /** The number of files of an uploaded folder. */
  uploadFiles: number
}

/** Built once, by `composition/services.ts`. */
export interface Services {
  // What is configured.
  version: string
  /** The providers' own keys in the environment of the server. */
  environmentKeys: EnvironmentKeys
  /** The id of the installation, which nobody outside knows. */
  installationId: string
  authMode: 'single' | 'multi'
  /** The public URL of this server; undefined: the origin to which a request was sent. */
  publicUrl: string | undefined
  /** The path of the public URL, below which browsers see everything; empty at the top of the host. */
  basePath: string
  /** Whether pages are served over TLS only, and so are their cookies. */
  isHttps: boolean
  /** Whether the server is behind a reverse proxy, so that no request counts as local. */
  isBehindProxy: boolean
  /** What the sign-in page offers in addition to the password. */
  signInOffer: Pick<z.input<typeof AuthMode>, 'oidc' | 'password_off'>
  bounds: RequestBounds
  /** The models of the configuration file, which are read-only. */
  configuredModels: readonly ModelSettings[]
  /** More tools of MCP servers than this are found on demand. */
  listedMcpTools: number
  now(): Date

  // The store.
  database: Database
  store: Store
  blobs: BlobStore
  limits: Limits
  /** Whether Redis responds; undefined if it is not configured. */
  redisState(): 'available' | 'unavailable' | undefined

  // Secrets.
  /** Seals secrets: values that it opens are redacted in the log. */
  box: SecretBox
  /** Seals values that the log need not redact. */
  bodyBox: SecretBox

  // Accounts.
  accounts: Accounts
  apiKeys: ApiKeys
  passwords: Passwords
  /** Whether this account may sign in with a password. */
  allowsPassword(username: string): boolean
  links: AccountLinks
  setup: SetupToken
  sessions: Sessions
  knownBrowsers: KnownBrowsers
  /** The open requests of users. */
  connections: OpenConnections
  secondFactors: SecondFactors
  passkeys: Passkeys
  emailLinks: EmailLinks
  /** Single sign-on; null if it is not configured. */
  oidc: OidcSignIn | null
  /** Adds an entry to the audit log. */
  record: RecordAudit

  // What users may use, and how much.
  access: Access
  /** The settings that administrators change while the server runs. */
  settings: ServerSettingsService
  /** The limits of a user and their use. */
  reportQuota(userId: UserId): Promise<QuotaReport>
  /** What a user stores, by kind. */
  reportStorageUse(userId: UserId): Promise<StorageUse>

  // Administration.
  mcpServers: McpServerCatalog
  mcpAdministration: McpAdministration
  /** What accounts store, largest first. @throws AppError `cursor_invalid`. */
  reportStorage: StorageReport
  /** The findings of the doctor; MCP servers as this administrator reaches them. */
  checkHealth(userId: UserId): Promise<HealthFinding[]>

  // Conversations.
  chat: ChatService
  receipts: Receipts
  background: Background
  search: Search
  shares: Shares
  transfers: TransferJobs
  markdown: MarkdownRenderer
  /** The recent changes of each user, for their open pages. */
  changes: ChangeLog
  readRunRecord: RunRecordReader

  // Files and projects.
  attachments: AttachmentReader
  files: FileService
  /** Limits how many uploads are in progress, whatever is uploaded. */
  uploadSlots: UploadSlots
  workspace: WorkspaceServices
  /** Files of projects that run in frames. */
  apps: Apps
  appsOrigin: AppsOrigin
  /** What people allow apps of MCP servers. */
  mcpApps: McpApps
  appComponents: Components
  appLibraries: AppLibraries
  /** What changing the members of projects needs. */
  membership: MemberDependencies
  skills: Skills
  consents: Consents
  knowledge: Knowledge
  /** Embeddings for programs; undefined if no endpoint for them is configured. */
  embeddings: ProgramEmbeddings | undefined
  speech: Speech
  /** Images for programs; undefined if no service for them is configured. */
  programImages: ProgramImages | undefined
  memory: Memory

  // Models and tools.
  catalog: ModelCatalog
  offeredModels: OfferedModels
  probe: ModelProbe
  registry: ToolRegistry
  mcp: McpServers
  /** Runs a program that a person has chosen. */
  runPython: RunPython
  /** Resolves when the isolation of Python programs is known. */
  isolationKnown: Promise<void>

  // Messages to programs and people.
  channels: Channels
  /** What people write at messengers. */
  receiving: Receiving
  senders: Senders
  bridge: BridgeInbox
  webhooks: Webhooks
  push: Push

  // What runs by itself.
  schedules: Schedules
  scheduleClock: ScheduleClock
  hooks: Hooks
}
