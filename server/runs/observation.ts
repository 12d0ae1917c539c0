// What runs report of themselves while they are performed, for metrics.
import type { FinishReason } from '../protocol/run-event.ts'

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
  | { kind: 'run_ended'; outcome: FinishReason | 'failed' | 'suspended'; seconds: number }
