// Every table, defined once for both databases with a column kit; one file per subject.
import type { Columns } from './columns/postgres.ts'
import { defineAccountLinkTables } from './tables/accounts/account-links.ts'
import { defineAccountTables } from './tables/accounts/accounts.ts'
import { defineAuditTables } from './tables/accounts/audit.ts'
import { defineGroupTables } from './tables/accounts/groups.ts'
import { defineMcpTables } from './tables/accounts/mcp.ts'
import { definePushTables } from './tables/accounts/push.ts'
import { defineServerSettingsTables } from './tables/accounts/server-settings.ts'
import { defineSessionTables } from './tables/accounts/sessions.ts'
import { defineSignInTables } from './tables/accounts/sign-in.ts'
import { defineUsageTables } from './tables/accounts/usage.ts'
import { defineAttachmentTables } from './tables/conversations/attachments.ts'
import { defineContextWindowTables } from './tables/conversations/context-window.ts'
import { defineConversationTables } from './tables/conversations/conversations.ts'
import { defineMessageTables } from './tables/conversations/messages.ts'
import { defineShareTables } from './tables/conversations/shares.ts'
import { defineTransferTables } from './tables/conversations/transfers.ts'
import { defineChannelTables } from './tables/deliveries/channels.ts'
import { defineReceivingTables } from './tables/deliveries/receiving.ts'
import { defineWebhookTables } from './tables/deliveries/webhooks.ts'
import { defineAppTables } from './tables/projects/apps.ts'
import { defineCheckpointTables } from './tables/projects/checkpoints.ts'
import { defineDocumentTables } from './tables/projects/documents.ts'
import { defineFileTables } from './tables/projects/files.ts'
import { defineProjectTables } from './tables/projects/projects.ts'
import { defineSkillTables } from './tables/projects/skills.ts'
import { defineAppCallTables } from './tables/runs/app-calls.ts'
import { defineApprovalTables } from './tables/runs/approvals.ts'
import { defineGrantTables } from './tables/runs/grants.ts'
import { defineLeaseTables } from './tables/runs/leases.ts'
import { defineRunRecordTables } from './tables/runs/run-records.ts'
import { defineRunTables } from './tables/runs/runs.ts'
import { defineScheduleTables } from './tables/schedules/schedules.ts'
import { defineSearchTables } from './tables/search.ts'

/** All tables of one dialect. Only the drivers call it; everything else uses `Database.tables`. */
export function defineTables(c: Columns) {
  const ofServer = {
    ...defineServerSettingsTables(c),
    ...defineAuditTables(c),
    ...defineLeaseTables(c),
  }
  const accounts = defineAccountTables(c)
  const sessions = defineSessionTables(c, accounts)
  const groups = defineGroupTables(c, accounts)
  const channels = defineChannelTables(c, accounts)
  const ofUsers = {
    ...accounts,
    ...sessions,
    ...defineSignInTables(c, { ...accounts, ...sessions }),
    ...definePushTables(c, { ...accounts, ...sessions }),
    ...groups,
    ...defineAccountLinkTables(c, { ...accounts, ...groups }),
    ...defineUsageTables(c, accounts),
    ...channels,
    ...defineWebhookTables(c, accounts),
    ...defineMcpTables(c, accounts),
    ...defineTransferTables(c, accounts),
  }
  const projects = defineProjectTables(c, { ...accounts, ...groups })
  const ofProjects = {
    ...projects,
    ...defineCheckpointTables(c, projects),
    ...defineDocumentTables(c, projects),
    ...defineSkillTables(c, accounts),
    ...defineAppTables(c, { ...accounts, ...sessions, ...projects }),
  }
  const files = defineFileTables(c, accounts)
  const conversations = defineConversationTables(c, { ...accounts, ...projects })
  const messages = defineMessageTables(c, conversations)
  const runs = defineRunTables(c, conversations)
  const schedules = defineScheduleTables(c, { ...accounts, ...projects, ...conversations })
  const ofConversations = {
    ...conversations,
    ...messages,
    ...files,
    ...defineAttachmentTables(c, { ...messages, ...files }),
    ...runs,
    ...defineApprovalTables(c, runs),
    ...defineAppCallTables(c, runs),
    ...schedules,
    ...defineGrantTables(c, { ...accounts, ...projects, ...conversations, ...runs, ...schedules }),
    ...defineRunRecordTables(c, { ...conversations, ...runs }),
    ...defineContextWindowTables(c, conversations),
    ...defineReceivingTables(c, { ...accounts, ...channels, ...conversations }),
    ...defineSearchTables(c, { ...accounts, ...conversations }),
    ...defineShareTables(c, { ...accounts, ...conversations }),
  }
  return { ...ofServer, ...ofUsers, ...ofProjects, ...ofConversations }
}

/** The tables of one dialect. */
export type Tables = ReturnType<typeof defineTables>
