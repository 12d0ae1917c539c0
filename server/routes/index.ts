// Registers all routes of the API explicitly.
import type { App } from '../http/app.ts'
import { type AccountRouteDependencies, registerAccountRoutes } from './account.ts'
import { registerAdminAuditRoutes } from './admin-audit.ts'
import { type AdminGroupDependencies, registerAdminGroupRoutes } from './admin-groups.ts'
import { registerAdminInvitationRoutes } from './admin-invitations.ts'
import { type AdminServerDependencies, registerAdminServerRoutes } from './admin-server.ts'
import { type AdminUserDependencies, registerAdminUserRoutes } from './admin-users.ts'
import { type AnswerRouteDependencies, registerAnswerRoutes } from './answers.ts'
import { type AuthRouteDependencies, registerAuthRoutes } from './auth.ts'
import { type BackgroundRouteDependencies, registerBackgroundRoutes } from './background.ts'
import { registerBranchRoutes } from './branches.ts'
import { registerChannelRoutes } from './channels.ts'
import {
  type ChatCompletionDependencies,
  registerChatCompletionRoutes,
} from './chat-completions.ts'
import { registerCheckpointRoutes } from './checkpoints.ts'
import { type ConversationRouteDependencies, registerConversationRoutes } from './conversations.ts'
import { type DocumentRouteDependencies, registerDocumentRoutes } from './documents.ts'
import { type ExportRouteDependencies, registerExportRoutes } from './exports.ts'
import { type FileRouteDependencies, registerFileRoutes } from './files.ts'
import { type HealthDependencies, registerHealthRoutes } from './health.ts'
import { registerMcpRoutes } from './mcp.ts'
import { type McpServerDependencies, registerMcpServerRoutes } from './mcp-server.ts'
import { registerMemoryRoutes } from './memory.ts'
import { type MessageRouteDependencies, registerMessageRoutes } from './messages.ts'
import { type ModelSetupDependencies, registerModelSetupRoutes } from './model-setup.ts'
import { type ModelRouteDependencies, registerModelRoutes } from './models.ts'
import { type OidcRouteDependencies, registerOidcRoutes } from './oidc.ts'
import { registerPreferenceRoutes } from './preferences.ts'
import { registerProjectFileRoutes } from './project-files.ts'
import {
  type ProjectUploadRouteDependencies,
  registerProjectUploadRoutes,
} from './project-uploads.ts'
import { type ProjectRouteDependencies, registerProjectRoutes } from './projects.ts'
import { registerPushRoutes } from './push.ts'
import { registerQuotaRoutes } from './quota.ts'
import { registerResponseRoutes } from './responses.ts'
import { registerRunRoutes } from './runs.ts'
import { registerSearchRoutes, type SearchRouteDependencies } from './search.ts'
import { registerSessionRoutes, type SessionRouteDependencies } from './sessions.ts'
import { registerSharedRoutes, type SharedRouteDependencies } from './shared.ts'
import { registerShareRoutes, type ShareRouteDependencies } from './shares.ts'
import { registerStatsRoutes, type StatsRouteDependencies } from './stats.ts'
import { registerToolRoutes } from './tools.ts'
import { registerTransferRoutes, type TransferRouteDependencies } from './transfers.ts'
import { registerUserEventRoutes } from './user-events.ts'
import { registerWebhookRoutes } from './webhooks.ts'

/** The dependencies of each group of routes. */
export interface RouteDependencies {
  health: HealthDependencies
  /** For signing in, the own account and sessions. */
  auth: AuthRouteDependencies &
    AccountRouteDependencies &
    SessionRouteDependencies &
    OidcRouteDependencies
  adminUsers: AdminUserDependencies
  adminGroups: AdminGroupDependencies
  adminServer: AdminServerDependencies
  quota: Parameters<typeof registerQuotaRoutes>[1]
  conversations: ConversationRouteDependencies
  messages: MessageRouteDependencies
  answers: AnswerRouteDependencies
  exports: ExportRouteDependencies
  transfers: TransferRouteDependencies
  files: FileRouteDependencies
  sharing: ShareRouteDependencies & SharedRouteDependencies
  runs: Parameters<typeof registerRunRoutes>[1]
  /** For projects, their files, checkpoints and uploads. */
  projects: ProjectRouteDependencies & ProjectUploadRouteDependencies
  models: ModelRouteDependencies
  modelSetup: ModelSetupDependencies
  search: SearchRouteDependencies
  stats: StatsRouteDependencies
  background: BackgroundRouteDependencies
  channels: Parameters<typeof registerChannelRoutes>[1]
  webhooks: Parameters<typeof registerWebhookRoutes>[1]
  push: Parameters<typeof registerPushRoutes>[1]
  memory: Parameters<typeof registerMemoryRoutes>[1]
  preferences: Parameters<typeof registerPreferenceRoutes>[1]
  mcp: Parameters<typeof registerMcpRoutes>[1]
  documents: DocumentRouteDependencies
  tools: Parameters<typeof registerToolRoutes>[1]
  programs: ChatCompletionDependencies
  mcpServer: McpServerDependencies
  userEvents: Parameters<typeof registerUserEventRoutes>[1]
}

/** Registers every route except those that serve the page. */
export function registerRoutes(app: App, dependencies: RouteDependencies): void {
  registerHealthRoutes(app, dependencies.health)
  registerAuthRoutes(app, dependencies.auth)
  registerOidcRoutes(app, dependencies.auth)
  registerAccountRoutes(app, dependencies.auth)
  registerSessionRoutes(app, dependencies.auth)
  registerAdminUserRoutes(app, dependencies.adminUsers)
  registerAdminInvitationRoutes(app, dependencies.adminUsers)
  registerAdminGroupRoutes(app, dependencies.adminGroups)
  registerAdminServerRoutes(app, dependencies.adminServer)
  registerQuotaRoutes(app, dependencies.quota)
  registerAdminAuditRoutes(app, dependencies.adminUsers)
  registerConversationRoutes(app, dependencies.conversations)
  registerMessageRoutes(app, dependencies.messages)
  registerAnswerRoutes(app, dependencies.answers)
  registerBranchRoutes(app, dependencies.answers.store)
  registerFileRoutes(app, dependencies.files)
  registerExportRoutes(app, dependencies.exports)
  registerTransferRoutes(app, dependencies.transfers)
  registerShareRoutes(app, dependencies.sharing)
  registerSharedRoutes(app, dependencies.sharing)
  registerRunRoutes(app, dependencies.runs)
  registerProjectRoutes(app, dependencies.projects)
  registerProjectUploadRoutes(app, dependencies.projects)
  registerProjectFileRoutes(app, dependencies.projects)
  registerCheckpointRoutes(app, dependencies.projects)
  registerModelRoutes(app, dependencies.models)
  registerModelSetupRoutes(app, dependencies.modelSetup)
  registerSearchRoutes(app, dependencies.search)
  registerStatsRoutes(app, dependencies.stats)
  registerBackgroundRoutes(app, dependencies.background)
  registerChannelRoutes(app, dependencies.channels)
  registerWebhookRoutes(app, dependencies.webhooks)
  registerPushRoutes(app, dependencies.push)
  registerMemoryRoutes(app, dependencies.memory)
  registerPreferenceRoutes(app, dependencies.preferences)
  registerMcpRoutes(app, dependencies.mcp)
  registerDocumentRoutes(app, dependencies.documents)
  registerToolRoutes(app, dependencies.tools)
  registerChatCompletionRoutes(app, dependencies.programs)
  registerResponseRoutes(app, dependencies.programs)
  registerMcpServerRoutes(app, dependencies.mcpServer)
  registerUserEventRoutes(app, dependencies.userEvents)
}
