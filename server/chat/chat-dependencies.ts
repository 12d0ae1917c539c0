// What the chat room is given by the house: everything it can reach, in one type.

import type { Database } from '../db/database.ts'
import type { Store } from '../db/store.ts'
import type { ModelCatalog } from '../llm/catalog.ts'
import type { ApprovalMode } from '../protocol/conversation.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import type { ToolDefinition } from '../tools/definition.ts'
import type { ResultKeeper } from '../tools/long-results.ts'
import type { ToolRegistry } from '../tools/registry.ts'
import type { ResultCache } from '../tools/result-cache.ts'

export interface ChatLog {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

/** Limits and habits, as plain values. */
export interface ChatSettings {
  maxIterations: number
  toolMaxWorkers: number
  approvalDefault: ApprovalMode
  titles: 'model' | 'first_message' | 'off'
  /** Seconds. */
  disconnectGrace: number
  messageCharacters: number
  runsPerUser: number
  runMinutes: number
  runTokens: number | undefined
  userTokensPerDay: number | undefined
  userCostPerMonth: number | undefined
}

export interface ChatDependencies {
  database: Database
  store: Store
  settings: ChatSettings
  catalog: ModelCatalog
  registry: ToolRegistry
  cache: ResultCache
  results: ResultKeeper
  /** Whether a conversation may use a tool (switched-off MCP servers). */
  isToolAllowed(
    tool: ToolDefinition,
    conversation: { disabledMcpServers: readonly string[] },
  ): boolean
  /** What the user's memory adds to the system prompt, fitted to the question; '' when there is nothing. */
  memory(userId: UserId, question: string): Promise<string>
  /** What the system prompt says of the project; null without one. */
  describeProject(userId: UserId, projectId: ProjectId): Promise<string | null>
  log: ChatLog
  now(): Date
  /** Names this process among others on the same store. */
  instance: string
}
