// Every table, defined once for both databases with a column kit; one file per subject.
import type { Columns } from './columns/postgres.ts'
import { defineAccountTables } from './tables/accounts.ts'
import { defineAuditTables } from './tables/audit.ts'
import { defineConversationTables } from './tables/conversations.ts'
import { defineFileTables } from './tables/files.ts'
import { defineGroupTables } from './tables/groups.ts'
import { defineProjectTables } from './tables/projects.ts'
import { definePushTables } from './tables/push.ts'
import { defineRunTables } from './tables/runs.ts'
import { defineSearchTables } from './tables/search.ts'
import { defineShareTables } from './tables/shares.ts'
import { defineSignInTables } from './tables/sign-in.ts'
import { defineTransferTables } from './tables/transfers.ts'
import { defineWebhookTables } from './tables/webhooks.ts'

/** All tables of one dialect. Only the drivers call it; everything else uses `Database.tables`. */
export function defineTables(c: Columns) {
  const accounts = defineAccountTables(c)
  const projects = defineProjectTables(c, accounts)
  const files = defineFileTables(c, accounts)
  const conversations = defineConversationTables(c, { ...accounts, ...projects, ...files })
  const runs = defineRunTables(c, conversations)
  const search = defineSearchTables(c, conversations)
  const shares = defineShareTables(c, { ...accounts, ...conversations })
  const transfers = defineTransferTables(c, accounts)
  return {
    ...accounts,
    ...defineSignInTables(c, accounts),
    ...defineAuditTables(c),
    ...defineGroupTables(c, accounts),
    ...projects,
    ...files,
    ...conversations,
    ...runs,
    ...search,
    ...shares,
    ...transfers,
    ...defineWebhookTables(c, accounts),
    ...definePushTables(c, accounts),
  }
}

export type Tables = ReturnType<typeof defineTables>
