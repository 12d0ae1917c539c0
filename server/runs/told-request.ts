// A request of which a person may be told, and how that is done.
import type { AskEntry } from '../protocol/accounts/preferences.ts'
import type { ConversationId, ProjectId, RunId, UserId } from '../protocol/ids.ts'
import type { ApprovalPreview, RiskLevel } from '../protocol/runs/run-event.ts'

/** A request of which a person may be told. */
export interface ToldRequest {
  type: 'approval' | 'input'
  id: string
  callHash: string | null
  /** The tool, or for a question the MCP server. */
  name: string
  riskLevel: RiskLevel | null
  preview: ApprovalPreview | null
  createdAt: Date
  deadline: Date | null
}

/** The run whose call or question waits. */
export interface WaitingRun {
  id: RunId
  userId: UserId
  conversationId: ConversationId
  projectId: ProjectId | null
}

/**
 * Sends what an entry says to its reader: the person of the run, or an approver of its project, who must learn nothing of the
 * conversation. Reports failures to the log only.
 */
export type TellWaiting = (
  entry: AskEntry,
  request: ToldRequest,
  to: { run: WaitingRun; reader: UserId },
  signal: AbortSignal,
) => Promise<void>
