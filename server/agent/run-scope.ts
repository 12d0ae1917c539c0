// What a run shares with its sub-agents: its model, tools, approval rules and journal.
import type { LlmClient, LlmRequest } from '../llm/client.ts'
import type { CallId } from '../protocol/ids.ts'
import type { Usage } from '../protocol/run-event.ts'
import type { Approvals } from '../tools/approval.ts'
import type { ToolDefinition } from '../tools/definition.ts'
import type { ExecutorDependencies } from '../tools/executor.ts'
import type { CallResult } from '../tools/tool-result.ts'
import type { SubAgentEvent } from './sub-agent-log.ts'

/** Usage of one model call; `model` is the one that answered, '' for the run's own. */
export interface CallUsage {
  usage: Usage
  model: string
}

/** Where the sub-agents of a run persist what they have done. */
export interface SubAgentJournal {
  /** What the sub-agents of a call had done when the process ended; empty for a call that begins. */
  read(callId: CallId): Promise<{ position: number; event: SubAgentEvent }[]>
  /**
   * Resolves when the event is durable, and with it the usage that led to it: usage counts once its event is stored, and
   * the model is called again when it is not. A `result` from outside taints the conversation in the same transaction.
   * While the process shuts down nothing more is stored.
   */
  write(
    callId: CallId,
    position: number,
    event: SubAgentEvent,
    used: readonly CallUsage[],
    result?: Pick<CallResult, 'untrusted'>,
  ): Promise<void>
}

export interface RunScope {
  llm: LlmClient
  /** How the run calls its model. */
  request: Pick<LlmRequest, 'temperature' | 'thinking'>
  /** Tokens that fit into the model's window. */
  contextWindow: number
  /** The run's tools; its sub-agents get no others. */
  tools: readonly ToolDefinition[]
  /** What the executors of the sub-agents work with: all tools of the server as the run knows them, caches, limits. */
  resources: Omit<ExecutorDependencies, 'allowedTools'>
  /** Of the run's user, as for the calls of the run itself. */
  approvals: Approvals
  /** Whether the run's conversation holds text from outside. */
  isTainted(): boolean
  isBudgetLeft(): Promise<boolean>
  /** Awaited before a call that has an effect; rejects when the run is aborted. */
  whenOwner(): Promise<void>
  /** Stores what sub-agents have done, and the tokens it took. */
  journal: SubAgentJournal
}
