// All repositories over one database.
import type { Database } from './database.ts'
import { createAccountDataRepository } from './repositories/account-data.ts'
import { createAccountLinkRepository } from './repositories/account-links.ts'
import { createApiKeyRepository } from './repositories/api-keys.ts'
import { createAttachmentRepository } from './repositories/attachments.ts'
import { createAuditRepository } from './repositories/audit.ts'
import { createBranchTree } from './repositories/branch-tree.ts'
import { createCheckpointRepository } from './repositories/checkpoints.ts'
import { createConfirmedAddressRepository } from './repositories/confirmed-addresses.ts'
import { createConversationRepository } from './repositories/conversations.ts'
import { createDocumentRepository } from './repositories/documents.ts'
import { createFileRepository } from './repositories/files.ts'
import { createGroupRepository } from './repositories/groups.ts'
import { createIdempotencyRepository } from './repositories/idempotency.ts'
import { createIdentityRepository } from './repositories/identities.ts'
import { createLeaseRepository } from './repositories/leases.ts'
import { createMessageImport } from './repositories/message-import.ts'
import { createMessageOrder } from './repositories/message-order.ts'
import { createMessageRepository } from './repositories/messages.ts'
import { createModelRepository } from './repositories/models.ts'
import { createOutsideContentRepository } from './repositories/outside-contents.ts'
import { createOwnerEpochRepository } from './repositories/owner-epochs.ts'
import { createProjectRepository } from './repositories/projects.ts'
import { createPushRepository } from './repositories/push.ts'
import { createQuotaRepository } from './repositories/quotas.ts'
import { createRunInputRepository } from './repositories/run-inputs.ts'
import { createRunRepository } from './repositories/runs.ts'
import { createSealedRepository } from './repositories/sealed.ts'
import { createSearchRepository } from './repositories/search.ts'
import { createSecondFactorRepository } from './repositories/second-factors.ts'
import { createSessionRepository } from './repositories/sessions.ts'
import { createSettingRepository } from './repositories/settings.ts'
import { createShareRepository } from './repositories/shares.ts'
import { createStepRepository } from './repositories/steps.ts'
import { createStorageRepository } from './repositories/storage.ts'
import { createSubAgentRepository } from './repositories/sub-agents.ts'
import { createSummaryRepository } from './repositories/summaries.ts'
import { createTokenUsageRepository } from './repositories/token-usage.ts'
import { createToolResultRepository } from './repositories/tool-results.ts'
import { createTransferRepository } from './repositories/transfers.ts'
import { createTrashRepository } from './repositories/trash.ts'
import { createUserRepository } from './repositories/users.ts'
import { createWebhookRepository } from './repositories/webhooks.ts'

export type Store = ReturnType<typeof createStore>

/**
 * A method whose first parameter is `tx` works inside the caller's transaction; every other method that writes is
 * durable when its promise resolves.
 */
export const createStore = (database: Database) => ({
  users: createUserRepository(database),
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
  checkpoints: createCheckpointRepository(database),
  outsideContents: createOutsideContentRepository(database),
  conversations: createConversationRepository(database),
  messages: createMessageRepository(database),
  branches: createBranchTree(database),
  messageOrder: createMessageOrder(database),
  files: createFileRepository(database),
  attachments: createAttachmentRepository(database),
  messageImport: createMessageImport(database),
  steps: createStepRepository(database),
  runs: createRunRepository(database),
  runInputs: createRunInputRepository(database),
  subAgents: createSubAgentRepository(database),
  summaries: createSummaryRepository(database),
  toolResults: createToolResultRepository(database),
  idempotency: createIdempotencyRepository(database),
  tokenUsage: createTokenUsageRepository(database),
  models: createModelRepository(database),
  settings: createSettingRepository(database),
  documents: createDocumentRepository(database),
  search: createSearchRepository(database),
  storage: createStorageRepository(database),
  shares: createShareRepository(database),
  transfers: createTransferRepository(database),
  trash: createTrashRepository(database),
  leases: createLeaseRepository(database),
  ownerEpochs: createOwnerEpochRepository(database),
  webhooks: createWebhookRepository(database),
  push: createPushRepository(database),
})
