// Every table, defined once for both databases with a column kit; one file per subject.
import type { Columns } from './columns/postgres.ts'
import { defineAccountTables } from './tables/accounts.ts'
import { defineApprovalTables } from './tables/approvals.ts'
import { defineAttachmentTables } from './tables/attachments.ts'
import { defineAuditTables } from './tables/audit.ts'
import { defineChannelTables } from './tables/channels.ts'
import { defineCheckpointTables } from './tables/checkpoints.ts'
import { defineContextWindowTables } from './tables/context-window.ts'
import { defineConversationTables } from './tables/conversations.ts'
import { defineDocumentTables } from './tables/documents.ts'
import { defineFileTables } from './tables/files.ts'
import { defineGroupTables } from './tables/groups.ts'
import { defineLeaseTables } from './tables/leases.ts'
import { defineMcpTables } from './tables/mcp.ts'
import { defineMessageTables } from './tables/messages.ts'
import { defineProjectTables } from './tables/projects.ts'
import { definePushTables } from './tables/push.ts'
import { defineRunTables } from './tables/runs.ts'
import { defineSearchTables } from './tables/search.ts'
import { defineServerSettingsTables } from './tables/server-settings.ts'
import { defineSessionTables } from './tables/sessions.ts'
import { defineShareTables } from './tables/shares.ts'
import { defineSignInTables } from './tables/sign-in.ts'
import { defineTransferTables } from './tables/transfers.ts'
import { defineUsageTables } from './tables/usage.ts'
import { defineWebhookTables } from './tables/webhooks.ts'

/** All tables of one dialect. Only the drivers call it; everything else uses `Database.tables`. */
export function defineTables(c: Columns) {
  const ofServer = {
    ...defineServerSettingsTables(c),
    ...defineAuditTables(c),
    ...defineLeaseTables(c),
  }
  const accounts = defineAccountTables(c)
  const sessions = defineSessionTables(c, accounts)
  const ofUsers = {
    ...accounts,
    ...sessions,
    ...defineSignInTables(c, { ...accounts, ...sessions }),
    ...definePushTables(c, { ...accounts, ...sessions }),
    ...defineGroupTables(c, accounts),
    ...defineUsageTables(c, accounts),
    ...defineChannelTables(c, accounts),
    ...defineWebhookTables(c, accounts),
    ...defineMcpTables(c, accounts),
    ...defineTransferTables(c, accounts),
  }
  const projects = defineProjectTables(c, accounts)
  const ofProjects = {
    ...projects,
    ...defineCheckpointTables(c, projects),
    ...defineDocumentTables(c, projects),
  }
  const files = defineFileTables(c, accounts)
  const conversations = defineConversationTables(c, { ...accounts, ...projects })
  const messages = defineMessageTables(c, conversations)
  const runs = defineRunTables(c, conversations)
  const ofConversations = {
    ...conversations,
    ...messages,
    ...files,
    ...defineAttachmentTables(c, { ...messages, ...files }),
    ...runs,
    ...defineApprovalTables(c, runs),
    ...defineContextWindowTables(c, conversations),
    ...defineSearchTables(c, { ...accounts, ...conversations }),
    ...defineShareTables(c, { ...accounts, ...conversations }),
  }
  return { ...ofServer, ...ofUsers, ...ofProjects, ...ofConversations }
}

export type Tables = ReturnType<typeof defineTables>
