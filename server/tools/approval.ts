// The interface through which the executor requests approval of a call.
import type { ToolCall } from '../llm/client.ts'
import type { ApprovalPreview, RiskLevel } from '../protocol/runs/run-event.ts'
import type { ToolDefinition } from './definition.ts'

/** What a person decided about a call. */
export type Decision =
  /** `arguments`: JSON text that replaces the model's arguments. */
  | { decision: 'approve'; arguments?: string }
  | { decision: 'reject'; reason?: string }
  /** Nobody decided before the deadline. */
  | { decision: 'expire'; deadline: Date }

/** What a person is asked to approve. */
export interface ApprovalRequest {
  call: ToolCall
  /** Binds the decision to this call (`callHash`). */
  hash: string
  /** The risk level of this call. */
  riskLevel: RiskLevel
  preview?: ApprovalPreview
  /** Index of the call in its batch. Requests are listed in this order, although previews become ready in any order. */
  position: number
}

/** `free`: the call needs no person. `granted`: a grant covers it, which its use may find ended. `ask`: a person decides. */
export type Permission = { kind: 'free' } | { kind: 'granted'; grantId: string } | { kind: 'ask' }

/** What the executor requires of a run for approval requests. The run decides who is asked, and stores the decision. */
export interface Approvals {
  /** Whether a call may run at once. `riskLevel` is the level of this call, `value` the checked arguments. */
  permissionFor(call: {
    tool: ToolDefinition
    value: Readonly<Record<string, unknown>>
    riskLevel: RiskLevel
    /** As in the checked arguments. */
    asksAlways?: boolean | undefined
  }): Promise<Permission>
  /**
   * Those of a call's web addresses that only the model has written, in a conversation where text from outside may have told
   * it to. Empty if any address may be reached.
   */
  newAddresses(addresses: readonly string[]): Promise<readonly string[]>
  /** Whether a call that no person has approved may follow a redirect to this address. */
  allowsRedirect(address: URL): Promise<boolean>
  /** Set if nobody can approve: the error that the model receives for each call that needs approval. */
  readonly refusal?: string
  /** Resolves with the decision. Rejects only if the run is aborted or the request cannot be stored. */
  request(request: ApprovalRequest): Promise<Decision>
}
