// The interface through which the executor requests approval of a call.
import type { ToolCall } from '../llm/client.ts'
import type { ApprovalPreview, RiskLevel } from '../protocol/runs/run-event.ts'

/** What a person decided about a call. */
export type Decision =
  /** `arguments`: JSON text that replaces the model's arguments. */
  { decision: 'approve'; arguments?: string } | { decision: 'reject'; reason?: string }

/** What a person is asked to approve. */
export interface ApprovalRequest {
  call: ToolCall
  /** The risk level of this call. */
  riskLevel: RiskLevel
  preview?: ApprovalPreview
  /** Index of the call in its batch. Requests are listed in this order, although previews become ready in any order. */
  position: number
}

/** What the executor requires of a run for approval requests. The run decides who is asked, and stores the decision. */
export interface Approvals {
  /**
   * Whether a call needs approval. `name` is the tool's own name, never an alias; `riskLevel` is the level of this call.
   */
  isNeeded(tool: { name: string; riskLevel: RiskLevel; grantKey?: string | undefined }): boolean
  /** Set if nobody can approve: the error that the model receives for each call that needs approval. */
  readonly refusal?: string
  /** Resolves with the decision. Rejects only if the run is aborted or the request cannot be stored. */
  request(request: ApprovalRequest): Promise<Decision>
}
