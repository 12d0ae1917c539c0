// Registers all routes of the API explicitly.
import type { App } from '../http/app.ts'
import { type AccountRouteDependencies, registerAccountRoutes } from './accounts/account.ts'
import { type AuthRouteDependencies, registerAuthRoutes } from './accounts/auth.ts'
import { registerMemoryRoutes } from './accounts/memory.ts'
import { type OidcRouteDependencies, registerOidcRoutes } from './accounts/oidc.ts'
import { registerPreferenceRoutes } from './accounts/preferences.ts'
import { registerPushRoutes } from './accounts/push.ts'
import { registerQuotaRoutes } from './accounts/quota.ts'
import { registerSessionRoutes, type SessionRouteDependencies } from './accounts/sessions.ts'
import { registerUserEventRoutes } from './accounts/user-events.ts'
import { registerAdminAuditRoutes } from './admin/audit.ts'
import { type AdminGroupDependencies, registerAdminGroupRoutes } from './admin/groups.ts'
import { registerAdminInvitationRoutes } from './admin/invitations.ts'
import { type AdminMcpDependencies, registerAdminMcpRoutes } from './admin/mcp-servers.ts'
import { type AdminServerDependencies, registerAdminServerRoutes } from './admin/server.ts'
import { type AdminUsageDependencies, registerAdminUsageRoutes } from './admin/usage.ts'
import { type AdminSessionDependencies, registerAdminSessionRoutes } from './admin/user-sessions.ts'
import { type AdminUserDependencies, registerAdminUserRoutes } from './admin/users.ts'
import { type AnswerRouteDependencies, registerAnswerRoutes } from './conversations/answers.ts'
import { registerBranchRoutes } from './conversations/branches.ts'
import {
  type ConversationRouteDependencies,
  registerConversationRoutes,
} from './conversations/conversations.ts'
import { type ExportRouteDependencies, registerExportRoutes } from './conversations/exports.ts'
import { type MessageRouteDependencies, registerMessageRoutes } from './conversations/messages.ts'
import { type PythonRouteDependencies, registerPythonRoutes } from './conversations/python.ts'
import { registerSearchRoutes, type SearchRouteDependencies } from './conversations/search.ts'
import { registerSharedRoutes, type SharedRouteDependencies } from './conversations/shared.ts'
import { registerShareRoutes, type ShareRouteDependencies } from './conversations/shares.ts'
import {
  registerTransferRoutes,
  type TransferRouteDependencies,
} from './conversations/transfers.ts'
import { type FileRouteDependencies, registerFileRoutes } from './files/files.ts'
import { type HealthDependencies, registerHealthRoutes } from './health.ts'
import { registerMcpRoutes } from './models/mcp.ts'
import { type ModelSetupDependencies, registerModelSetupRoutes } from './models/model-setup.ts'
import { type ModelRouteDependencies, registerModelRoutes } from './models/models.ts'
import { registerToolRoutes } from './models/tools.ts'
import { registerChannelRoutes } from './programs/channels.ts'
import {
  type ChatCompletionDependencies,
  registerChatCompletionRoutes,
} from './programs/chat-completions.ts'
import { type McpServerDependencies, registerMcpServerRoutes } from './programs/mcp-server.ts'
import { registerResponseRoutes } from './programs/responses.ts'
import { registerWebhookRoutes } from './programs/webhooks.ts'
import {
  type AttachFileRouteDependencies,
  registerAttachFileRoute,
} from './projects/attach-file.ts'
import { registerCheckpointRoutes } from './projects/checkpoints.ts'
import { type DocumentRouteDependencies, registerDocumentRoutes } from './projects/documents.ts'
import { registerFilePreviewRoute } from './projects/file-previews.ts'
import {
  type ProjectFileRouteDependencies,
  registerProjectFileRoutes,
} from './projects/project-files.ts'
import {
  type ProjectUploadRouteDependencies,
  registerProjectUploadRoutes,
} from './projects/project-uploads.ts'
import { type ProjectRouteDependencies, registerProjectRoutes } from './projects/projects.ts'
import { type BackgroundRouteDependencies, registerBackgroundRoutes } from './runs/background.ts'
import { registerRunRoutes } from './runs/runs.ts'
import { registerStatsRoutes, type StatsRouteDependencies } from './runs/stats.ts'

/** The dependencies of each group of routes. */
export interface RouteDependencies {
  health: HealthDependencies
  /** For signing in, the user's account and sessions. */
  auth: AuthRouteDependencies &
    AccountRouteDependencies &
    SessionRouteDependencies &
    OidcRouteDependencies
  adminUsers: AdminUserDependencies & AdminSessionDependencies
  adminGroups: AdminGroupDependencies
  adminUsage: AdminUsageDependencies
  adminServer: AdminServerDependencies
  adminMcp: AdminMcpDependencies
  quota: Parameters<typeof registerQuotaRoutes>[1]
  conversations: ConversationRouteDependencies
  messages: MessageRouteDependencies
  answers: AnswerRouteDependencies
  python: PythonRouteDependencies
  exports: ExportRouteDependencies
  transfers: TransferRouteDependencies
  files: FileRouteDependencies
  sharing: ShareRouteDependencies & SharedRouteDependencies
  runs: Parameters<typeof registerRunRoutes>[1]
  /** For projects, their files, checkpoints and uploads. */
  projects: ProjectRouteDependencies &
    ProjectFileRouteDependencies &
    ProjectUploadRouteDependencies &
    AttachFileRouteDependencies
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
  registerAdminSessionRoutes(app, dependencies.adminUsers)
  registerAdminInvitationRoutes(app, {
    ...dependencies.adminUsers,
    groups: dependencies.adminGroups.groups,
  })
  registerAdminGroupRoutes(app, dependencies.adminGroups)
  registerAdminUsageRoutes(app, dependencies.adminUsage)
  registerAdminServerRoutes(app, dependencies.adminServer)
  registerAdminMcpRoutes(app, dependencies.adminMcp)
  registerQuotaRoutes(app, dependencies.quota)
  registerAdminAuditRoutes(app, dependencies.adminUsers)
  registerConversationRoutes(app, dependencies.conversations)
  registerMessageRoutes(app, dependencies.messages)
  registerAnswerRoutes(app, dependencies.answers)
  registerBranchRoutes(app, dependencies.answers.store)
  registerPythonRoutes(app, dependencies.python)
  registerFileRoutes(app, dependencies.files)
  registerExportRoutes(app, dependencies.exports)
  registerTransferRoutes(app, dependencies.transfers)
  registerShareRoutes(app, dependencies.sharing)
  registerSharedRoutes(app, dependencies.sharing)
  registerRunRoutes(app, dependencies.runs)
  registerProjectRoutes(app, dependencies.projects)
  registerProjectUploadRoutes(app, dependencies.projects)
  registerProjectFileRoutes(app, dependencies.projects)
  registerAttachFileRoute(app, dependencies.projects)
  registerFilePreviewRoute(app, dependencies.projects)
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
