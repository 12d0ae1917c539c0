// Wraps a client: retries when the provider is busy or unavailable, until the first output.
import { setTimeout as sleep } from 'node:timers/promises'
import type { AppError } from '../errors.ts'
import type { ErrorCode } from '../protocol/error.ts'
import type { LlmClient, LlmEvent } from './client.ts'

/** When and how often to repeat a failed call. */
export interface RetryOptions {
  /** Milliseconds before each retry. The number of entries is the number of retries. */
  delaysMs?: readonly number[]
  /** The longest `Retry-After` to honor, in seconds. */
  maxRetryAfter?: number
}

const DELAYS_MS = [1000, 2000, 4000]
const MAX_RETRY_AFTER = 60

/** Failures that a retry may resolve: a 429, a provider error, a failed connection. */
const RETRYABLE: ReadonlySet<ErrorCode> = new Set([
  'model_rate_limited',
  'model_unavailable',
  'model_stream_broken',
])

/** Emits `retrying` after each failed attempt, then waits. The wait ends when the run is stopped. */
export function withRetry(client: LlmClient, options: RetryOptions = {}): LlmClient {
  const delaysMs = options.delaysMs ?? DELAYS_MS
  const maxRetryAfter = options.maxRetryAfter ?? MAX_RETRY_AFTER
  return {
    async *stream(request) {
      for (let attempt = 0; ; attempt += 1) {
        let hasOutput = false
        let failure: AppError | undefined
        for await (const batch of client.stream(request)) {
          const last = batch.at(-1)
          const delay = delaysMs[attempt]
          const mayRetry = !hasOutput && batch.length === 1 && delay !== undefined
          if (mayRetry && last?.type === 'failed' && isRetryable(last.error)) {
            failure = last.error
            continue
          }
          hasOutput ||= batch.some((event) => event.type !== 'retrying')
          yield batch
        }
        if (failure === undefined) return
        const delayMs =
          failure.retryAfter === undefined
            ? (delaysMs[attempt] ?? 0)
            : Math.min(failure.retryAfter, maxRetryAfter) * 1000
        if (request.signal.aborted) return yield [{ type: 'failed', error: failure }]
        yield [retrying(attempt + 1, delayMs, failure)]
        if (!(await waited(delayMs, request.signal)))
          return yield [{ type: 'failed', error: failure }]
      }
    },
  }
}

const isRetryable = (error: AppError): boolean => error.retryable && RETRYABLE.has(error.code)

const retrying = (attempt: number, delayMs: number, error: AppError): LlmEvent => ({
  type: 'retrying',
  attempt,
  delayMs,
  error,
})

/** False if the run was stopped while waiting. */
async function waited(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(milliseconds, undefined, { signal })
    return true
  } catch {
    return false
  }
}
