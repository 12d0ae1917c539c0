// Registers all routes of the API explicitly.
import type { App } from '../http/app.ts'
import type { Services } from '../services.ts'
import { registerAccountRoutes } from './accounts/account.ts'
import { registerAuthRoutes } from './accounts/auth.ts'
import { registerMemoryRoutes } from './accounts/memory.ts'
import { registerOidcRoutes } from './accounts/oidc.ts'
import { registerPreferenceRoutes } from './accounts/preferences.ts'
import { registerPushRoutes } from './accounts/push.ts'
import { registerQuotaRoutes } from './accounts/quota.ts'
import { registerSessionRoutes } from './accounts/sessions.ts'
import { registerUserEventRoutes } from './accounts/user-events.ts'
import { registerAdminAuditRoutes } from './admin/audit.ts'
import { registerAdminGroupRoutes } from './admin/groups.ts'
import { registerAdminInvitationRoutes } from './admin/invitations.ts'
import { registerAdminMcpRoutes } from './admin/mcp-servers.ts'
import { registerAdminServerRoutes } from './admin/server.ts'
import { registerAdminUsageRoutes } from './admin/usage.ts'
import { registerAdminSessionRoutes } from './admin/user-sessions.ts'
import { registerAdminUserRoutes } from './admin/users.ts'
import { registerAppRoutes } from './apps/apps.ts'
import { registerMcpAppRoutes } from './apps/mcp-apps.ts'
import { registerAnswerRoutes } from './conversations/answers.ts'
import { registerBranchRoutes } from './conversations/branches.ts'
import { registerConversationRoutes } from './conversations/conversations.ts'
import { registerExportRoutes } from './conversations/exports.ts'
import { registerMessageRoutes } from './conversations/messages.ts'
import { registerPythonRoutes } from './conversations/python.ts'
import { registerReceiptRoutes } from './conversations/receipts.ts'
import { registerSearchRoutes } from './conversations/search.ts'
import { registerSharedRoutes } from './conversations/shared.ts'
import { registerShareRoutes } from './conversations/shares.ts'
import { registerTransferRoutes } from './conversations/transfers.ts'
import { registerFileRoutes } from './files/files.ts'
import { registerHealthRoutes } from './health.ts'
import { registerMcpRoutes } from './models/mcp.ts'
import { registerModelSetupRoutes } from './models/model-setup.ts'
import { registerModelRoutes } from './models/models.ts'
import { registerToolRoutes } from './models/tools.ts'
import { registerChannelRoutes } from './programs/channels.ts'
import { registerChatCompletionRoutes } from './programs/chat-completions.ts'
import { registerEmbeddingRoutes } from './programs/embeddings.ts'
import { registerMcpServerRoutes } from './programs/mcp-server.ts'
import { registerMediaRoutes } from './programs/media.ts'
import { registerAnthropicRoutes } from './programs/messages.ts'
import { registerResponseRoutes } from './programs/responses.ts'
import { registerSenderRoutes } from './programs/senders.ts'
import { registerSpeechRoutes } from './programs/speech.ts'
import { registerWebhookRoutes } from './programs/webhooks.ts'
import { registerAttachFileRoute } from './projects/attach-file.ts'
import { registerCheckpointRoutes } from './projects/checkpoints.ts'
import { registerConsentRoutes } from './projects/consents.ts'
import { registerDocumentRoutes } from './projects/documents.ts'
import { registerFilePreviewRoute } from './projects/file-previews.ts'
import { registerMemberRoutes } from './projects/members.ts'
import { registerProjectBundleRoutes } from './projects/project-bundles.ts'
import { registerProjectFileRoutes } from './projects/project-files.ts'
import { registerProjectUploadRoutes } from './projects/project-uploads.ts'
import { registerProjectRoutes } from './projects/projects.ts'
import { registerSkillRoutes } from './projects/skills.ts'
import { registerAppCallRoutes } from './runs/app-calls.ts'
import { registerApprovalLinkRoutes } from './runs/approval-links.ts'
import { registerApprovalRoutes } from './runs/approvals.ts'
import { registerBackgroundRoutes } from './runs/background.ts'
import { registerGrantRoutes } from './runs/grants.ts'
import { registerRunRoutes } from './runs/runs.ts'
import { registerStatsRoutes } from './runs/stats.ts'

import { registerHookRoutes } from './schedules/hooks.ts'
import { registerScheduleRoutes } from './schedules/schedules.ts'

/** Registers every route except those that serve the page. */
export function registerRoutes(app: App, services: Services): void {
  registerHealthRoutes(app, services)
  registerAuthRoutes(app, services)
  registerOidcRoutes(app, services)
  registerAccountRoutes(app, services)
  registerSessionRoutes(app, services)
  registerAdminUserRoutes(app, services)
  registerAdminSessionRoutes(app, services)
  registerAdminInvitationRoutes(app, services)
  registerAdminGroupRoutes(app, services)
  registerAdminUsageRoutes(app, services)
  registerAdminServerRoutes(app, services)
  registerAdminMcpRoutes(app, services)
  registerQuotaRoutes(app, services)
  registerAdminAuditRoutes(app, services)
  registerConversationRoutes(app, services)
  registerMessageRoutes(app, services)
  registerReceiptRoutes(app, services)
  registerAnswerRoutes(app, services)
  registerBranchRoutes(app, services)
  registerPythonRoutes(app, services)
  registerFileRoutes(app, services)
  registerExportRoutes(app, services)
  registerTransferRoutes(app, services)
  registerShareRoutes(app, services)
  registerSharedRoutes(app, services)
  registerRunRoutes(app, services)
  registerAppCallRoutes(app, services)
  registerApprovalRoutes(app, services)
  registerApprovalLinkRoutes(app, services)
  registerGrantRoutes(app, services)
  registerScheduleRoutes(app, services)
  registerHookRoutes(app, services)
  registerProjectRoutes(app, services)
  registerProjectUploadRoutes(app, services)
  registerProjectBundleRoutes(app, services)
  registerProjectFileRoutes(app, services)
  registerAttachFileRoute(app, services)
  registerFilePreviewRoute(app, services)
  registerCheckpointRoutes(app, services)
  registerAppRoutes(app, services)
  registerMcpAppRoutes(app, services)
  registerSkillRoutes(app, services)
  registerConsentRoutes(app, services)
  registerMemberRoutes(app, services)
  registerModelRoutes(app, services)
  registerModelSetupRoutes(app, services)
  registerSearchRoutes(app, services)
  registerStatsRoutes(app, services)
  registerBackgroundRoutes(app, services)
  registerChannelRoutes(app, services)
  registerSenderRoutes(app, services)
  registerWebhookRoutes(app, services)
  registerPushRoutes(app, services)
  registerMemoryRoutes(app, services)
  registerPreferenceRoutes(app, services)
  registerMcpRoutes(app, services)
  registerDocumentRoutes(app, services)
  registerToolRoutes(app, services)
  registerChatCompletionRoutes(app, services)
  registerResponseRoutes(app, services)
  registerAnthropicRoutes(app, services)
  registerEmbeddingRoutes(app, services)
  registerMediaRoutes(app, services)
  registerSpeechRoutes(app, services)
  registerMcpServerRoutes(app, services)
  registerUserEventRoutes(app, services)
}
