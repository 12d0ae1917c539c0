// What chat and runs are given: everything they can reach, in one type.

import type { SubAgentLimits } from '../agent/sub-agent.ts'
import type { Database } from '../db/database.ts'
import type { Store } from '../db/store.ts'
import type { ModelCatalog } from '../llm/catalog.ts'
import type { Change } from '../protocol/change.ts'
import type { ApprovalMode } from '../protocol/conversation.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import type { ToolDefinition } from '../tools/definition.ts'
import type { ResultKeeper } from '../tools/long-results.ts'
import type { ToolRegistry } from '../tools/registry.ts'
import type { ResultCache } from '../tools/result-cache.ts'
import type { ToolSafety } from '../tools/timed-run.ts'

export interface ChatLog {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

/** Limits and defaults, as plain values. */
export interface ChatSettings {
  maxIterations: number
  toolMaxWorkers: number
  subAgents: SubAgentLimits
  approvalDefault: ApprovalMode
  titles: 'model' | 'first_message' | 'off'
  /** Seconds. */
  disconnectGrace: number
  messageCharacters: number
  /** Bytes of all attachments of one message. */
  attachmentBytes: number
  runsPerUser: number
  runMinutes: number
  runTokens: number | undefined
  userTokensPerDay: number | undefined
  userCostPerMonth: number | undefined
}

/** What a prompt says of a project. */
export interface ProjectDescription {
  /** Its name and description, as the user wrote them. */
  about: string
  /** The names of its files, which anybody may have given them. */
  listing: string
}

/** What a prompt says of the user's memory; both are '' when there is nothing to say. */
export interface MemorySection {
  /** The user's own text and facts that they vouch for. */
  trusted: string
  /** Facts that were learned where text from outside had been read: data, and no part of a system message. */
  outside: string
}

export interface ChatDependencies {
  database: Database
  store: Store
  settings: ChatSettings
  catalog: ModelCatalog
  registry: ToolRegistry
  cache: ResultCache
  results: ResultKeeper
  safety: ToolSafety
  /** Whether a conversation may use a tool (switched-off MCP servers). */
  isToolAllowed(
    tool: ToolDefinition,
    conversation: { disabledMcpServers: readonly string[] },
  ): boolean
  /** What the user's memory adds to the prompt, fitted to the question. */
  memory(userId: UserId, question: string): Promise<MemorySection>
  describeProject(userId: UserId, projectId: ProjectId): Promise<ProjectDescription | null>
  /** Publishes a change to the user's open pages; call it after the commit. */
  announce(userId: UserId, change: Change): void
  log: ChatLog
  /** The text without any secret that this server knows. */
  redact(text: string): string
  now(): Date
  /** Names this process among others on the same store. */
  instance: string
  /**
   * Fulfils when this process owns the store, at once nearly always. Awaited before anything that has an effect outside
   * of the store. Rejects when the signal aborts.
   */
  whenOwner(signal: AbortSignal): Promise<void>
}
