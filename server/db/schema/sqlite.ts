// The SQLite tables, each by name: what drizzle-kit reads.
import { sqliteColumns } from '../columns/sqlite.ts'
import { defineTables } from '../tables.ts'

export const {
  users,
  revokedTokens,
  apiKeys,
  tokenUsage,
  memories,
  channels,
  deliveries,
  models,
  settings,
  projects,
  checkpoints,
  outsideContents,
  checkpointFiles,
  documents,
  passages,
  passageVectors,
  conversations,
  messages,
  attachments,
  steps,
  runs,
  approvals,
  toolResults,
  summaries,
  subAgentEvents,
  searchTitles,
  searchWords,
} = defineTables(sqliteColumns)
