// What a run shares with its sub-agents: its model, tools, approval rules and journal.
import type { LlmClient, LlmRequest, ToolCall } from '../llm/client.ts'
import type { TokenCounts } from '../llm/usage.ts'
import type { CallId } from '../protocol/ids.ts'
import type { Approvals } from '../tools/approval.ts'
import type { ToolDefinition } from '../tools/definition.ts'
import type { ExecutorDependencies } from '../tools/executor.ts'
import type { CallResult } from '../tools/tool-result.ts'
import type { SubAgentEvent } from './sub-agent-log.ts'

/** Token counts of one model call. `model` is the id of the model that answered; '' stands for the run's own model. */
export interface CallUsage {
  usage: TokenCounts
  model: string
}

/** Where the sub-agents of a run persist their progress. */
export interface SubAgentJournal {
  /** The stored events of a call's sub-agents, in order; empty for a new call. */
  read(callId: CallId): Promise<{ position: number; event: SubAgentEvent }[]>
  /**
   * Resolves when the event and the usage that led to it are durable. Both are stored in one transaction: if it fails,
   * neither is stored and the model is called again. An untrusted `result` taints the conversation in the same transaction.
   * Does nothing while the process shuts down.
   */
  write(
    callId: CallId,
    position: number,
    event: SubAgentEvent,
    used: readonly CallUsage[],
    result?: CallResult,
  ): Promise<void>
}

/** What the run shares with its sub-agents. A sub-agent can never do more than the run. */
export interface RunScope {
  llm: LlmClient
  /** The settings of the run's model calls. */
  request: Pick<LlmRequest, 'temperature' | 'thinking'>
  /** Size of the model's context window, in tokens. */
  contextWindow: number
  /** The run's tools. Sub-agents can use only these. */
  tools: readonly ToolDefinition[]
  /** Dependencies of the sub-agents' executors: the run's snapshot of all tools, caches, limits. */
  resources: Omit<ExecutorDependencies, 'allowedTools'>
  /** The approval rules of the run, which also apply to its sub-agents. */
  approvals: Approvals
  /** Counts a call that a grant lets through; false if the grant no longer holds. The id of the call is unique in the run. */
  countGrantUse(grantId: string, call: ToolCall): Promise<boolean>
  /** Whether the conversation contains text from outside. */
  isTainted(): boolean
  isBudgetLeft(): Promise<boolean>
  /** Resolves when this process owns the store. Awaited before a call that has an effect; rejects when the run is aborted. */
  whenOwner(): Promise<void>
  journal: SubAgentJournal
}
