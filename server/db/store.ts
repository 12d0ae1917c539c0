// All repositories over one database.
import type { Database } from './database.ts'
import { createAccountDataRepository } from './repositories/accounts/account-data.ts'
import { createAccountLinkRepository } from './repositories/accounts/account-links.ts'
import { createApiKeyRepository } from './repositories/accounts/api-keys.ts'
import { createAuditRepository } from './repositories/accounts/audit.ts'
import { createConfirmedAddressRepository } from './repositories/accounts/confirmed-addresses.ts'
import { createGroupRepository } from './repositories/accounts/groups.ts'
import { createIdentityRepository } from './repositories/accounts/identities.ts'
import { createMcpAppDomainRepository } from './repositories/accounts/mcp-app-domains.ts'
import { createPushRepository } from './repositories/accounts/push.ts'
import { createQuotaRepository } from './repositories/accounts/quotas.ts'
import { createSecondFactorRepository } from './repositories/accounts/second-factors.ts'
import { createSessionRepository } from './repositories/accounts/sessions.ts'
import { createSettingRepository } from './repositories/accounts/settings.ts'
import { createTokenUsageRepository } from './repositories/accounts/token-usage.ts'
import { createUsageReportRepository } from './repositories/accounts/usage-report.ts'
import { createUserRepository } from './repositories/accounts/users.ts'
import { createAddressTextRepository } from './repositories/conversations/address-texts.ts'
import { createAttachmentRepository } from './repositories/conversations/attachments.ts'
import { createBranchTree } from './repositories/conversations/branch-tree.ts'
import { createCitationRepository } from './repositories/conversations/citations.ts'
import { createConversationRepository } from './repositories/conversations/conversations.ts'
import { createMessageImport } from './repositories/conversations/message-import.ts'
import { createMessageOrder } from './repositories/conversations/message-order.ts'
import { createMessageRepository } from './repositories/conversations/messages.ts'
import { createPlanRepository } from './repositories/conversations/plans.ts'
import { createShareRepository } from './repositories/conversations/shares.ts'
import { createStepRepository } from './repositories/conversations/steps.ts'
import { createSummaryRepository } from './repositories/conversations/summaries.ts'
import { createTransferRepository } from './repositories/conversations/transfers.ts'
import { createTrashRepository } from './repositories/conversations/trash.ts'
import { createChannelRepository } from './repositories/deliveries/channels.ts'
import { createPartRepository } from './repositories/deliveries/outgoing-parts.ts'
import { createReceivingRepository } from './repositories/deliveries/receiving.ts'
import { createWebhookRepository } from './repositories/deliveries/webhooks.ts'
import { createInstallationRepository } from './repositories/installation.ts'
import { createMcpServerRepository } from './repositories/mcp-servers.ts'
import { createModelRepository } from './repositories/models.ts'
import { createApproverRepository } from './repositories/projects/approvers.ts'
import { createAppRepository } from './repositories/projects/apps.ts'
import { createCheckpointRepository } from './repositories/projects/checkpoints.ts'
import { createConsentRepository } from './repositories/projects/consents.ts'
import { createDocumentRepository } from './repositories/projects/documents.ts'
import { createFileRepository } from './repositories/projects/files.ts'
import { createMemberRepository } from './repositories/projects/members.ts'
import { createProjectRepository } from './repositories/projects/projects.ts'
import { createStorageRepository } from './repositories/projects/storage.ts'
import { createUnusedBlobRepository } from './repositories/projects/unused-blobs.ts'
import { createUserSkillRepository } from './repositories/projects/user-skills.ts'
import { createAppCallRepository } from './repositories/runs/app-calls.ts'
import { createApprovalLinkRepository } from './repositories/runs/approval-links.ts'
import { createDecidedCallRepository } from './repositories/runs/decided-calls.ts'
import { createGrantRepository } from './repositories/runs/grants.ts'
import { createIdempotencyRepository } from './repositories/runs/idempotency.ts'
import { createLeaseRepository } from './repositories/runs/leases.ts'
import { createLedgerRepository } from './repositories/runs/ledger.ts'
import { createOutsideContentRepository } from './repositories/runs/outside-contents.ts'
import { createOwnerEpochRepository } from './repositories/runs/owner-epochs.ts'
import { createRequestList } from './repositories/runs/request-list.ts'
import { createRequestNoticeRepository } from './repositories/runs/request-notices.ts'
import { createRunInputRepository } from './repositories/runs/run-inputs.ts'
import { createRunRecordRepository } from './repositories/runs/run-records.ts'
import { createRunRepository } from './repositories/runs/runs.ts'
import { createSubAgentRepository } from './repositories/runs/sub-agents.ts'
import { createToolResultRepository } from './repositories/runs/tool-results.ts'
import { createOccurrenceRepository } from './repositories/schedules/occurrences.ts'
import { createScheduleRepository } from './repositories/schedules/schedules.ts'
import { createSealedRepository } from './repositories/sealed.ts'
import { createSearchRepository } from './repositories/search/text-search.ts'

/** All repositories of one database. */
export type Store = ReturnType<typeof createStore>

/**
 * A method whose first parameter is `tx` works inside the caller's transaction; every other method that writes is
 * durable when its promise resolves.
 */
export const createStore = (database: Database) => ({
  users: createUserRepository(database),
  mcpAppDomains: createMcpAppDomainRepository(database),
  apiKeys: createApiKeyRepository(database),
  audit: createAuditRepository(database),
  groups: createGroupRepository(database),
  quotas: createQuotaRepository(database),
  sessions: createSessionRepository(database),
  sealed: createSealedRepository(database),
  secondFactors: createSecondFactorRepository(database),
  identities: createIdentityRepository(database),
  accountLinks: createAccountLinkRepository(database),
  confirmedAddresses: createConfirmedAddressRepository(database),
  accountData: createAccountDataRepository(database),
  projects: createProjectRepository(database),
  approvers: createApproverRepository(database),
  members: createMemberRepository(database),
  apps: createAppRepository(database),
  checkpoints: createCheckpointRepository(database),
  consents: createConsentRepository(database),
  userSkills: createUserSkillRepository(database),
  outsideContents: createOutsideContentRepository(database),
  conversations: createConversationRepository(database),
  messages: createMessageRepository(database),
  branches: createBranchTree(database),
  messageOrder: createMessageOrder(database),
  files: createFileRepository(database),
  unusedBlobs: createUnusedBlobRepository(database),
  installation: createInstallationRepository(database),
  attachments: createAttachmentRepository(database),
  addressTexts: createAddressTextRepository(database),
  messageImport: createMessageImport(database),
  plans: createPlanRepository(database),
  citations: createCitationRepository(database),
  steps: createStepRepository(database),
  runs: createRunRepository(database),
  runRecords: createRunRecordRepository(database),
  runInputs: createRunInputRepository(database),
  requests: createRequestList(database),
  requestNotices: createRequestNoticeRepository(database),
  approvalLinks: createApprovalLinkRepository(database),
  appCalls: createAppCallRepository(database),
  grants: createGrantRepository(database),
  decidedCalls: createDecidedCallRepository(database),
  subAgents: createSubAgentRepository(database),
  ledger: createLedgerRepository(database),
  summaries: createSummaryRepository(database),
  toolResults: createToolResultRepository(database),
  idempotency: createIdempotencyRepository(database),
  tokenUsage: createTokenUsageRepository(database),
  usageReport: createUsageReportRepository(database),
  models: createModelRepository(database),
  mcpServers: createMcpServerRepository(database),
  settings: createSettingRepository(database),
  documents: createDocumentRepository(database),
  search: createSearchRepository(database),
  storage: createStorageRepository(database),
  shares: createShareRepository(database),
  transfers: createTransferRepository(database),
  trash: createTrashRepository(database),
  leases: createLeaseRepository(database),
  ownerEpochs: createOwnerEpochRepository(database),
  schedules: createScheduleRepository(database),
  occurrences: createOccurrenceRepository(database),
  channels: createChannelRepository(database),
  receiving: createReceivingRepository(database),
  parts: createPartRepository(database),
  webhooks: createWebhookRepository(database),
  push: createPushRepository(database),
})
