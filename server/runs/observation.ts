// What runs report while they are performed: for metrics, and to the user's open pages.
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { Change } from '../protocol/change.ts'
import type { UserId } from '../protocol/ids.ts'
import type { FinishReason } from '../protocol/runs/run-event.ts'
import type { TimelineEntry } from '../protocol/runs/run-timeline.ts'
import type { RunLog } from './log/log.ts'

/** Times are in seconds. */
export type RunObservation =
  | { kind: 'first_token'; model: string; seconds: number }
  | {
      kind: 'model_call'
      model: string
      promptTokens: number
      completionTokens: number
      cachedTokens: number
      /** '' and 0 for a model without a price. */
      currency: string
      cost: number
    }
  /** A reranker was asked for the order of found passages. */
  | { kind: 'rerank'; outcome: 'success' | 'failure'; seconds: number }
  | { kind: 'tool_call'; tool: string; isSuccess: boolean; seconds: number }
  /** `suspended`: the server is shutting down, and the next start continues the run. */
  | { kind: 'run_ended'; outcome: RunOutcome; steps: number; seconds: number }
  /** A write was retried because the store was busy, full or unavailable. */
  | { kind: 'store_retry' }
  | {
      kind: 'attempt_ended'
      run: Pick<RunRow, 'id' | 'attempt' | 'conversationId' | 'parentRunId' | 'kind' | 'model'>
      startedAt: Date
      endedAt: Date
      /** What this attempt did. */
      entries: readonly TimelineEntry[]
      outcome: RunOutcome
      /** Why the run failed; null if it did not. */
      reason: string | null
    }

/** How an attempt ended, by the last event of its log. Without a terminal event, a later attempt continues it. */
export const outcomeOf = (terminal: RunLog['terminal']): RunOutcome =>
  terminal === null ? 'suspended' : terminal.event === 'error' ? 'failed' : terminal.finish_reason

/** `lost`: the process that performed it died; the next attempt reports it. */
export type RunOutcome = FinishReason | 'failed' | 'suspended' | 'lost'

/**
 * Describes an attempt whose process died, from the timeline that it stored.
 * @param run the run before its next attempt.
 */
export function lostAttempt(run: RunRow): RunObservation {
  const entries = (run.timeline ?? []).filter(({ attempt = 1 }) => attempt === run.attempt)
  const first = run.attempt === 1 ? run.createdAt.toISOString() : entries[0]?.started_at
  const startedAt = first === undefined ? new Date() : new Date(first)
  const ends = entries.map((entry) => Date.parse(entry.started_at) + entry.duration_ms)
  return {
    kind: 'attempt_ended',
    run,
    startedAt,
    endedAt: new Date(Math.max(startedAt.getTime(), ...ends)),
    entries,
    outcome: 'lost',
    reason: 'process_lost',
  }
}

/** Notifies the user's open pages. Call it after the commit. The notification also covers the run's conversation and assistant message. */
export const announceRun = (
  { id, userId, conversationId }: Pick<RunRow, 'id' | 'userId' | 'conversationId'>,
  change: 'created' | 'updated',
  announce: (userId: UserId, change: Change) => void,
): void => announce(userId, { type: 'run', id, change, conversation_id: conversationId })
