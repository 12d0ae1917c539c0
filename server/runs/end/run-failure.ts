// Describes why a run failed, or why its model is called again, in the form that is stored and emitted.

import type { LoopEvent } from '../../agent/loop.ts'
import { type AppError, appError } from '../../errors.ts'
import type { ErrorParams } from '../../protocol/error.ts'
import type { RunFailure } from '../../protocol/runs/run.ts'
import type { RetryNotice } from '../../protocol/runs/run-event.ts'
import type { StopReason } from '../active-run.ts'

/** The failure that the cause of a stop is for the person; null for a stop that is none. */
export const failureOfStop = (cause: StopReason | null): AppError | null =>
  cause === 'project_deleted'
    ? appError('project_deleted_during_run')
    : cause === 'project_handed_over'
      ? appError('project_handed_over_during_run')
      : null

type Redact = (text: string) => string

/** @param redact removes API keys that the text or its parameters contain. */
export const runFailure = (error: AppError, redact: Redact): RunFailure => ({
  content: redact(error.message),
  code: error.code,
  retryable: error.retryable,
  reason: error.reason,
  ...(error.params === undefined ? {} : { params: redacted(error.params, redact) }),
})

/** @param redact removes API keys that the text or its parameters contain. */
export function retryNotice(
  { attempt, delayMs, error, nextModel }: Extract<LoopEvent, { type: 'retrying' }>,
  redact: Redact,
): RetryNotice {
  const next = nextModel === undefined ? {} : { next_model: nextModel }
  const text = redact(error.message)
  return {
    attempt,
    delay_ms: delayMs,
    reason: nextModel === undefined ? text : `${text} Asking "${nextModel}" instead.`,
    code: error.code,
    error_reason: error.reason,
    params: { ...redacted(error.params ?? {}, redact), ...next },
  }
}

const redacted = (params: ErrorParams, redact: Redact): ErrorParams =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      typeof value === 'string'
        ? redact(value)
        : Array.isArray(value)
          ? value.map((one) => redact(one))
          : value,
    ]),
  )
