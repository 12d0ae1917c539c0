// What a person is asked to decide, as a list: approvals of tool calls and questions of MCP servers, with the decisions.
import { z } from 'zod'
import { PageQuery, Timestamp } from '../envelope.ts'
import { ConversationId, ProjectId, RunId } from '../ids.ts'
import { PendingInput } from './input.ts'
import { RunOrigin } from './origin.ts'
import { ApprovalPreview, RiskLevel } from './run-event.ts'

/** What is asked: permission for a tool call, an answer to a question of an MCP server, or consent to a plan. */
export const RequestType = z.enum(['approval', 'input', 'plan'])
export type RequestType = z.infer<typeof RequestType>

/**
 * `expired`: nobody decided before the deadline. `void`: the run ended, or no longer needs the decision. `answered`: the
 * final state of a question.
 */
export const RequestState = z.enum([
  'pending',
  'approved',
  'rejected',
  'answered',
  'expired',
  'void',
])
export type RequestState = z.infer<typeof RequestState>

/** How a decision reached the server; `channel:<name>`: a button or an answer at a messenger. */
export const DecidedThrough = z.union([
  z.enum(['page', 'api', 'push', 'link', 'mcp', 'deadline']),
  z.templateLiteral(['channel:', z.string().max(200)]),
])
export type DecidedThrough = z.infer<typeof DecidedThrough>

/** A request for a person's decision. */
export const Approval = z
  .object({
    id: z.string(),
    type: RequestType,
    run_id: RunId,
    /** The id of the tool call, or of the question. */
    id_ref: z.string(),
    conversation_id: ConversationId,
    /** Null for approvers. */
    conversation_title: z.string().nullable(),
    project_id: ProjectId.nullable(),
    /** Whose run it is, for approvers of its project; null for the person themselves. */
    person: z.object({ id: z.string(), name: z.string() }).nullable(),
    origin: RunOrigin,
    /** For approvals: the tool. */
    name: z.string().optional(),
    /** For approvals: the checked arguments, without defaults. Never changed by a decision. */
    arguments: z.record(z.string(), z.unknown()).optional(),
    risk_level: RiskLevel.optional(),
    preview: ApprovalPreview.optional(),
    /** For questions: the form or page. */
    input: PendingInput.optional(),
    /** Only in lists: arguments, changed arguments and preview are left out, because together they are long. */
    partial: z.literal(true).optional(),
    /** Whether the conversation contained text from outside when the call was made. */
    tainted: z.boolean(),
    /** SHA-256, in hex, of the RFC 8785 form of `{arguments, id_ref, name, run_id}`. */
    call_hash: z.string(),
    requested_at: Timestamp,
    /** When it expires; null if it does not. */
    deadline: Timestamp.nullable(),
    state: RequestState,
    decided_at: Timestamp.nullable(),
    /** The person who decided; null if nobody did, or if their account is deleted. */
    decided_by: z.object({ id: z.string(), name: z.string() }).nullable(),
    decided_through: DecidedThrough.nullable(),
    /** The arguments that a person changed; absent if they were approved as they are. */
    decided_arguments: z.record(z.string(), z.unknown()).optional(),
    /** Why a person rejected the call, in their words. */
    reason: z.string().nullable(),
  })
  .meta({ id: 'Approval' })
export type Approval = z.infer<typeof Approval>

export const ApprovalListQuery = PageQuery.extend({
  state: z
    .enum(['pending', 'decided'])
    .optional()
    .describe('`pending` (default): what waits; `decided`: everything else.'),
  project_id: ProjectId.optional().describe('Only requests of runs in this project.'),
})
