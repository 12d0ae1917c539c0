// The one error class: why a request or a run cannot be served, with a code and a reason from the protocol's lists.
import { type ErrorCode, type ErrorParams, errorCodes } from './protocol/error.ts'
import {
  type FailureParams,
  type FailureReason,
  failures,
  failureText,
} from './protocol/failures/failures.ts'

export interface AppErrorOptions {
  details?: unknown
  retryable?: boolean
  /** Seconds. */
  retryAfter?: number
  /** Goes to the log only. */
  cause?: unknown
}

/**
 * Thrown when a request (or a run) cannot be served. `message` is for the person: what happened and what to do;
 * it never holds a secret, a URL with a key or a host path. The cause goes to the log only.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  /** Finer than `code`, so that `message` can be translated; `code` itself where the list of failures has none. */
  readonly reason: FailureReason | ErrorCode
  readonly status: number
  readonly details: unknown
  readonly retryable: boolean
  /** The values in `message`, for pages in other languages. */
  readonly params: ErrorParams | undefined
  /** Seconds after which trying again makes sense; becomes `Retry-After`. */
  readonly retryAfter: number | undefined

  constructor(
    code: ErrorCode,
    message: string,
    options: AppErrorOptions & { reason?: FailureReason | ErrorCode; params?: ErrorParams } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.reason = options.reason ?? code
    this.status = errorCodes[code]
    this.details = options.details
    this.retryable = options.retryable ?? false
    this.params = options.params
    this.retryAfter = options.retryAfter
  }
}

type NoParams = Record<never, never>

/**
 * The error of a reason in the protocol's list of failures, which gives its code and text. The only way to refuse a
 * request; `new AppError` is for texts of providers and of commands for operators.
 */
export function appError<Reason extends FailureReason>(
  reason: Reason,
  ...[params, options]: NoParams extends FailureParams<Reason>
    ? [params?: NoParams, options?: AppErrorOptions]
    : [params: FailureParams<Reason>, options?: AppErrorOptions]
): AppError {
  const values: ErrorParams = { ...params }
  return new AppError(failures[reason][0], failureText(reason, values), {
    ...options,
    reason,
    ...(Object.keys(values).length === 0 ? {} : { params: values }),
  })
}

/** The text of anything that was thrown, for logs and for results without a better one. */
export const errorText = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/** For work that is still running in a deleted project. */
export const projectDeleted = (): AppError => appError('project_deleted')
