// How the executor has a person decide on a call: what it asks of its caller, and what comes back.
import type { ToolCall } from '../llm/client.ts'
import type { ApprovalPreview, RiskLevel } from '../protocol/run-event.ts'

export type Decision =
  /** `arguments`: JSON text that takes the place of the model's. */
  { decision: 'approve'; arguments?: string } | { decision: 'reject'; reason?: string }

export interface ApprovalRequest {
  call: ToolCall
  /** The level of this very call. */
  riskLevel: RiskLevel
  preview?: ApprovalPreview
  /** The place of the call in its batch: requests are listed by it, though their previews get ready in any order. */
  position: number
}

export interface Approvals {
  /** Whether a call needs approval; `name` is the tool's own, never an alias; `riskLevel` is that of this call. */
  isNeeded(tool: { name: string; riskLevel: RiskLevel }): boolean
  /** Resolves when decided; rejects only when the run is aborted or the request cannot be stored. */
  request(request: ApprovalRequest): Promise<Decision>
}
