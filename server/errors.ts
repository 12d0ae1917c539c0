// The one error class of the house: what a request could not be given, with a code from the table.
import { type ErrorCode, type ErrorParams, errorCodes } from './protocol/error.ts'

/**
 * Thrown when a request (or a run) cannot be served. `message` is for the person: what happened and what to do;
 * it never holds a secret, a URL with a key or a host path. The cause goes to the log only.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly details: unknown
  readonly retryable: boolean
  /** What `message` was made of, for pages in other languages. */
  readonly params: ErrorParams | undefined
  /** Seconds after which trying again makes sense; becomes `Retry-After`. */
  readonly retryAfter: number | undefined

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      details?: unknown
      retryable?: boolean
      params?: ErrorParams
      retryAfter?: number
      cause?: unknown
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.status = errorCodes[code]
    this.details = options.details
    this.retryable = options.retryable ?? false
    this.params = options.params
    this.retryAfter = options.retryAfter
  }
}

/** The text of anything that was thrown, for logs and for results that have no better one. */
export const errorText = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/** Said to whoever still works in a project that is gone. */
export const projectDeleted = (): AppError =>
  new AppError(
    'project_deleted',
    'This project was deleted. Nothing was changed, and nothing can be done in it any more.',
  )
