// The events of a run, shared by the loop, the log, the wire and the page.
import { z } from 'zod'
import { Timestamp } from '../envelope.ts'
import { ErrorParams } from '../error.ts'
import { CallId, MessageId, RunId } from '../ids.ts'
import { PendingInput } from './input.ts'
import { RunOrigin } from './origin.ts'
import { PlanEvent } from './plan.ts'
import { ReceiptCounts } from './receipt.ts'
import { Step } from './step.ts'
import { CallProgress } from './tool-progress.ts'
import { Usage } from './usage.ts'

/** How much harm a tool call can do; with the approval mode it decides whether a person must approve. */
export const RiskLevel = z.enum(['low', 'medium', 'high'])
export type RiskLevel = z.infer<typeof RiskLevel>

/** Whether `level` is a lower risk than `other`. */
export const isLowerRisk = (level: RiskLevel, other: RiskLevel): boolean =>
  RiskLevel.options.indexOf(level) < RiskLevel.options.indexOf(other)

/**
 * Why a run ended. `tool_calls`: it called a tool of the program that sent the request, which runs it and sends the result.
 */
export const FinishReason = z.enum([
  'stop',
  'length',
  'stopped',
  'max_iterations',
  'budget',
  'tool_calls',
])
export type FinishReason = z.infer<typeof FinishReason>

/** What a person sees before deciding on a call. Other fields depend on the tool. */
export const ApprovalPreview = z
  .object({
    display: z.string().optional(),
    /** The key and parameters of the text in `display`, so that the page can translate it. */
    display_code: z.string().optional(),
    display_params: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
    diff: z.string().optional(),
    command: z.string().optional(),
    /** A warning, for example when the call is not isolated from the host. */
    warning: z.string().optional(),
    /** The machine-readable form, such as `not_isolated`, `host_network` or `changed_meanwhile`. */
    warning_code: z.string().optional(),
  })
  .catchall(z.unknown())
export type ApprovalPreview = z.infer<typeof ApprovalPreview>

/** An approval request without a decision: a tool call that waits for a person. */
export const PendingApproval = z.object({
  id_ref: CallId,
  /** Its id in the list of all requests. */
  approval_id: z.string(),
  /** SHA-256, in hex, of the RFC 8785 form of `{arguments, id_ref, name, run_id}`; a decision may repeat it. */
  call_hash: z.string(),
  /** When the request expires; null if it does not. */
  deadline: Timestamp.nullable(),
  name: z.string(),
  arguments: z.string(),
  risk_level: RiskLevel,
  preview: ApprovalPreview.optional(),
  /** Who made the call: absent for the model. The request of an app waits also after the run. */
  origin: z.literal('app').optional(),
})
export type PendingApproval = z.infer<typeof PendingApproval>

export const RunStartedEvent = z.object({
  event: z.literal('run'),
  run_id: RunId,
  user_message_id: MessageId.nullable(),
  message_id: MessageId,
  /** Absent in events of earlier versions. */
  origin: RunOrigin.optional(),
})
export const ProcessStepEvent = z.object({ event: z.literal('process_step'), step: Step })
export const StepDeltaEvent = z.object({
  event: z.literal('step_delta'),
  id: z.templateLiteral(['step-', z.int()]),
  index: z.int(),
  type: z.enum(['thinking', 'text']),
  delta: z.string(),
})
/** Progress of a tool call that has no result yet. Never stored. */
export const ToolProgressEvent = z.object({
  event: z.literal('tool_progress'),
  id_ref: CallId,
  progress: CallProgress,
})
/** Tool progress as a listener of a run log receives it: without the event name. */
export type ToolProgressNotice = Omit<z.infer<typeof ToolProgressEvent>, 'event'>
/** A model call failed and will be retried after `delay_ms`. Never stored; the next event supersedes it. */
export const RetryEvent = z.object({
  event: z.literal('retry'),
  attempt: z.int(),
  delay_ms: z.number(),
  /** Why it failed, for a person; `error_reason` is the machine-readable reason. */
  reason: z.string(),
  code: z.string().optional(),
  /** More specific than `code`: `reason` of error responses. */
  error_reason: z.string().optional(),
  /** Includes `next_model` when another model is called next. */
  params: ErrorParams.optional(),
})
/** A retry as a listener of a run log receives it: without the event name. */
export type RetryNotice = Omit<z.infer<typeof RetryEvent>, 'event'>
export const ApprovalRequiredEvent = PendingApproval.extend({
  event: z.literal('approval_required'),
  run_id: RunId,
})
/** An MCP server asks the person for input, and the tool call waits for it. */
export const InputRequiredEvent = PendingInput.extend({
  event: z.literal('input_required'),
  run_id: RunId,
})
export const TitleEvent = z.object({ event: z.literal('title'), title: z.string() })
/**
 * The limit that ended a run with `budget`: a text for a person, and a machine-readable reason with its parameters. `complete`:
 * the answer was complete when it went beyond the limit, so that there is nothing to resume.
 */
export const ReachedLimit = z
  .object({
    content: z.string(),
    reason: z.string(),
    params: ErrorParams.optional(),
    complete: z.boolean().optional(),
  })
  .meta({ id: 'ReachedLimit' })
export type ReachedLimit = z.infer<typeof ReachedLimit>

/** The terminal event of a run that has an answer, also of one that was stopped or reached a limit. */
export const DoneEvent = z.object({
  event: z.literal('done'),
  message_id: MessageId,
  token_count: z.int(),
  suggested_title: z.string().nullable(),
  usage: Usage,
  /** The part of the completion tokens that the models thought with; absent when there was none. */
  reasoning_tokens: z.int().optional(),
  finish_reason: FinishReason,
  /** Only with `budget`; absent in runs that ended before limits were stored. */
  limit: ReachedLimit.optional(),
  /** What the answer did, in numbers; absent in runs that ended before receipts. */
  receipt: ReceiptCounts.optional(),
})
/** The terminal event of a run that failed. `content` is for a person. */
export const ErrorEvent = z.object({
  event: z.literal('error'),
  content: z.string(),
  code: z.string(),
  retryable: z.boolean(),
  /** More specific than `code`, as in error responses; absent in runs that ended before reasons were stored. */
  reason: z.string().optional(),
  params: ErrorParams.optional(),
})

/** An event of a run, as it is sent as a server-sent event (docs/protocol.md). */
export const RunEvent = z.discriminatedUnion('event', [
  RunStartedEvent,
  ProcessStepEvent,
  StepDeltaEvent,
  ToolProgressEvent,
  RetryEvent,
  ApprovalRequiredEvent,
  InputRequiredEvent,
  PlanEvent,
  TitleEvent,
  DoneEvent,
  ErrorEvent,
])
export type RunEvent = z.infer<typeof RunEvent>
export type DoneEvent = z.infer<typeof DoneEvent>
export type ErrorEvent = z.infer<typeof ErrorEvent>

/** Whether the event is the last one of its run. */
export const isTerminal = (event: RunEvent): event is DoneEvent | ErrorEvent =>
  event.event === 'done' || event.event === 'error'

/**
 * The `data:` payload of one event: the bare step for step events, otherwise the event without its name.
 */
export function eventData(event: RunEvent): unknown {
  if (event.event === 'process_step') return event.step
  const { event: _name, ...data } = event
  return data
}
