// What runs report of themselves while they are performed, for metrics.
import type { RunRow } from '../db/repositories/runs.ts'
import type { FinishReason } from '../protocol/run-event.ts'
import type { TimelineEntry } from '../protocol/run-timeline.ts'
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
  | { kind: 'tool_call'; tool: string; isSuccess: boolean; seconds: number }
  /** `suspended`: the server is shutting down, and the next start continues the run. */
  | { kind: 'run_ended'; outcome: RunOutcome; seconds: number }
  | {
      kind: 'attempt_ended'
      run: Pick<RunRow, 'id' | 'attempt' | 'conversationId' | 'parentRunId' | 'kind' | 'model'>
      startedAt: Date
      endedAt: Date
      /** What this attempt did. */
      entries: readonly TimelineEntry[]
      outcome: RunOutcome
      /** Why it failed. */
      reason: string | null
    }

/** How an attempt ended, by the last event of its log: without one, it is continued later. */
export const outcomeOf = (terminal: RunLog['terminal']): RunOutcome =>
  terminal === null ? 'suspended' : terminal.event === 'error' ? 'failed' : terminal.finish_reason

export type RunOutcome = FinishReason | 'failed' | 'suspended'
