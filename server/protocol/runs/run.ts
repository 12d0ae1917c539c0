// Runs on the wire.
import { z } from 'zod'
import { optional, Timestamp } from '../envelope.ts'
import { ErrorParams } from '../error.ts'
import { CallId, ConversationId, MessageId, RunId } from '../ids.ts'
import { DecidedGrant } from './grant.ts'
import { PendingInput } from './input.ts'
import { RunOrigin } from './origin.ts'
import { FinishReason, PendingApproval, ReachedLimit } from './run-event.ts'
import { ApprovalDecision } from './tool-progress.ts'
import { Usage } from './usage.ts'

/** The status of a run: from `queued` to one of the four final ones; in `awaiting_…` it waits for a person. */
export const RunStatus = z.enum([
  'queued',
  'running',
  'awaiting_approval',
  'awaiting_input',
  'completed',
  'stopped',
  'failed',
  'interrupted',
])
export type RunStatus = z.infer<typeof RunStatus>

/** Whether a run or message with this status waits for a person. */
export const isWaitingStatus = (status: string | null): boolean =>
  status === 'awaiting_approval' || status === 'awaiting_input'

/** Why a run failed: a text for a person, and a machine-readable reason with the parameters of the text. */
export const RunFailure = z.object({
  content: z.string(),
  code: z.string(),
  retryable: z.boolean(),
  /** More specific than `code`, as in error responses; absent in runs that ended before reasons were stored. */
  reason: z.string().optional(),
  params: ErrorParams.optional(),
})
export type RunFailure = z.infer<typeof RunFailure>

/** The state of a run; its answer is the message `message_id`. */
export const Run = z
  .object({
    id: RunId,
    conversation_id: ConversationId,
    message_id: MessageId,
    user_message_id: MessageId.nullable(),
    status: RunStatus,
    model: z.string(),
    origin: RunOrigin,
    usage: Usage,
    finish_reason: FinishReason.nullable(),
    /** Only with `budget`; null in runs that ended before limits were stored. */
    limit: ReachedLimit.nullable(),
    error: RunFailure.nullable(),
    pending_approvals: z.array(PendingApproval),
    pending_inputs: z.array(PendingInput),
    created_at: Timestamp,
    ended_at: Timestamp.nullable(),
  })
  .meta({ id: 'Run' })
export type Run = z.infer<typeof Run>

/** The request body of `POST /api/runs/:id/approvals`. */
export const ApprovalDecisionBody = z
  .object({
    id_ref: CallId,
    decision: ApprovalDecision,
    reason: optional(z.string().max(2000)),
    /** Changed arguments: an object or its JSON text. */
    arguments: optional(z.union([z.record(z.string(), z.unknown()), z.string().max(1_000_000)])),
    remember: optional(z.enum(['run', 'conversation', 'grant'])),
    /** With `remember: "grant"`: the permission that the approval also stores. */
    grant: optional(DecidedGrant),
    /** Refused with 409 `approval_changed` unless it is the hash of the waiting call. */
    call_hash: optional(z.string().max(100)),
  })
  .refine(({ remember, grant }) => (remember === 'grant') === (grant !== undefined), {
    path: ['grant'],
    error: 'Send `grant` together with `remember: "grant"`.',
  })
  .refine(({ remember, decision }) => remember !== 'grant' || decision === 'approve', {
    path: ['remember'],
    error: 'Only an approval can store a grant.',
  })
  .meta({ id: 'ApprovalDecision' })
export type ApprovalDecisionBody = z.infer<typeof ApprovalDecisionBody>
