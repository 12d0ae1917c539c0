// Computes the state of a live run after each of its events.
import { applyRunEvent } from '../../../../../server/protocol/runs/apply-run-event.ts'
import type { RunEvent } from '../../../../../server/protocol/runs/run-event.ts'
import { type LiveRun, withoutApproval, withoutInput } from './live-runs.ts'
import { foldProgress } from './tool-progress.ts'

/** A run before its first event. */
export const newLiveRun = (runId: string, conversationId: string): LiveRun => ({
  runId,
  conversationId,
  messageId: null,
  steps: [],
  growing: null,
  approvals: [],
  inputs: [],
  rejected: [],
  progress: {},
  startedAt: {},
  retry: null,
  connection: 'open',
  trouble: null,
  state: 'running',
  finishReason: null,
  limit: null,
  usage: null,
  error: null,
  title: null,
  plan: null,
})

/** The run after an event. Pure; `now` is the page's clock in milliseconds. */
export function foldEvent(before: LiveRun, event: RunEvent, now: number): LiveRun {
  // Any event ends the wait for a retry.
  const run = before.retry === null ? before : { ...before, retry: null }
  switch (event.event) {
    case 'run':
      return { ...run, messageId: event.message_id }
    case 'process_step': {
      const steps = applyRunEvent(run.steps, event)
      const { step } = event
      const grown = { ...run, steps, growing: step.index }
      if (step.type === 'tool_call' && run.startedAt[step.id_ref] === undefined)
        return { ...grown, startedAt: { ...run.startedAt, [step.id_ref]: now } }
      if (step.type !== 'tool_result') return grown
      const { [step.id_ref]: _ended, ...progress } = run.progress
      return {
        ...grown,
        progress,
        approvals: withoutApproval(run, step.id_ref).approvals,
        inputs: run.inputs.filter(({ call_ref: call }) => call !== step.id_ref),
      }
    }
    case 'step_delta':
      return { ...run, steps: applyRunEvent(run.steps, event), growing: event.index }
    case 'tool_progress':
      if (event.progress.kind === 'decided')
        return {
          ...withoutApproval(run, event.id_ref),
          // An approved call runs from now on; it has only waited so far. Others never run.
          ...(event.progress.decision === 'approve'
            ? { startedAt: { ...run.startedAt, [event.id_ref]: now } }
            : {}),
          rejected:
            event.progress.decision === 'reject' ? [...run.rejected, event.id_ref] : run.rejected,
        }
      if (event.progress.kind === 'input_answered') return withoutInput(run, event.progress.input)
      return {
        ...run,
        progress: {
          ...run.progress,
          [event.id_ref]: foldProgress(run.progress[event.id_ref], event.progress),
        },
      }
    case 'retry':
      return {
        ...run,
        retry: {
          reason: event.error_reason,
          params: event.params,
          message: event.reason,
          at: now + event.delay_ms,
        },
      }
    case 'approval_required': {
      const { event: _name, run_id: _run, ...pending } = event
      return {
        ...run,
        approvals: [...withoutApproval(run, pending.id_ref).approvals, pending],
      }
    }
    case 'input_required': {
      const { event: _name, run_id: _run, ...pending } = event
      return { ...run, inputs: [...withoutInput(run, pending.id_ref).inputs, pending] }
    }
    case 'plan':
      return { ...run, plan: { items: event.items, edited_by: event.edited_by } }
    case 'title':
      return { ...run, title: event.title }
    case 'done':
      return {
        ...run,
        state: 'done',
        messageId: event.message_id,
        approvals: [],
        inputs: [],
        finishReason: event.finish_reason,
        limit: event.limit ?? null,
        usage: event.usage,
        title: event.suggested_title ?? run.title,
      }
    case 'error':
      return {
        ...run,
        state: 'error',
        approvals: [],
        inputs: [],
        error: {
          content: event.content,
          code: event.code,
          reason: event.reason,
          retryable: event.retryable,
          params: event.params,
        },
      }
  }
}
