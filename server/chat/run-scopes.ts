// What the runs of this process lend to tools that are made of the loop itself: their model, their tools, their rules.
import type { LlmClient, LlmRequest } from '../llm/client.ts'
import type { RunId } from '../protocol/ids.ts'
import type { RiskLevel } from '../protocol/run-event.ts'
import type { ToolAnswer } from '../tools/answer.ts'
import type { ToolDefinition } from '../tools/definition.ts'
import type { ExecutorHooks } from '../tools/executor.ts'
import type { SubAgentJournal } from './sub-agent-journal.ts'

export interface RunScope {
  llm: LlmClient
  /** How the run asks its model. */
  request: Pick<LlmRequest, 'temperature' | 'thinking'>
  /** Tokens that fit into the model's window. */
  contextWindow: number
  /** What the run may use; whatever it starts may use no more. */
  tools: readonly ToolDefinition[]
  needsApproval(tool: { name: string; riskLevel: RiskLevel }): boolean
  /** Asks the run's person, as the run itself would. */
  ask: ExecutorHooks['ask']
  /** Every answer that a sub-agent's model reads: what is untrusted taints the conversation. */
  see(answer: ToolAnswer): Promise<void>
  isBudgetLeft(): Promise<boolean>
  /** Where sub-agents leave what they have done, and the tokens it took. */
  journal: SubAgentJournal
}

export interface RunScopes {
  /** Returns the call that ends it. */
  enter(runId: RunId, scope: RunScope): () => void
  /** undefined when the run is not performed here. */
  get(runId: RunId): RunScope | undefined
}

export function createRunScopes(): RunScopes {
  const scopes = new Map<RunId, RunScope>()
  return {
    enter(runId, scope) {
      scopes.set(runId, scope)
      return () => {
        if (scopes.get(runId) === scope) scopes.delete(runId)
      }
    },
    get: (runId) => scopes.get(runId),
  }
}
