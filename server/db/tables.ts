// Every table, defined once for both databases in the words of a column kit; three files, one per subject.
import type { Columns } from './columns/postgres.ts'
import { defineAccountTables } from './tables/accounts.ts'
import { defineConversationTables } from './tables/conversations.ts'
import { defineProjectTables } from './tables/projects.ts'
import { defineRunTables } from './tables/runs.ts'

/** All tables of one dialect. Call it with a kit; everything else in this room gets the result. */
export function defineTables(c: Columns) {
  const accounts = defineAccountTables(c)
  const projects = defineProjectTables(c, accounts)
  const conversations = defineConversationTables(c, { ...accounts, ...projects })
  const runs = defineRunTables(c, conversations)
  return { ...accounts, ...projects, ...conversations, ...runs }
}

export type Tables = ReturnType<typeof defineTables>
