// The one error class for failed requests and runs, with a code and a reason from the protocol's lists.
import { ERROR_CODES, type ErrorCode, type ErrorParams } from './protocol/error.ts'
import { type StoredFailure, storedFailure } from './protocol/failures/stored.ts'
import {
  FAILURES,
  type FailureParams,
  type FailureReason,
  failureText,
  isFailureReason,
} from './protocol/failures.ts'

/** `details` reach the client; `retryable`: the same request may succeed later. */
export interface AppErrorOptions {
  details?: unknown
  retryable?: boolean
  /** Where it differs from the usual one of the code. */
  status?: number
  /** Seconds. */
  retryAfter?: number
  /** Logged only, never sent. */
  cause?: unknown
  /** What a model's provider said, cleaned and cut: quoted after the text, and the parameter `detail`. */
  providerSays?: string
}

/**
 * Thrown when a request or a run fails. `message` is shown to the user: it says what happened and what to do, and never
 * contains a secret, a URL with a key or a host path. The cause is only logged.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  /** More specific than `code`, for translating `message`; equal to `code` if the list of failures has no entry. */
  readonly reason: FailureReason | ErrorCode
  readonly status: number
  readonly details: unknown
  readonly retryable: boolean
  /** The values in `message`, for translations. */
  readonly params: ErrorParams | undefined
  /** Seconds to wait before retrying; sent as `Retry-After`. */
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
    this.status = options.status ?? ERROR_CODES[code]
    this.details = options.details
    this.retryable = options.retryable ?? false
    this.params = options.params
    this.retryAfter = options.retryAfter
  }
}

type NoParams = Record<never, never>

/**
 * The error of a reason in the protocol's list of failures, which gives its code and text. Use it to refuse a request or
 * end a run; `new AppError` is only for operators' commands and results of tools. Parameters beyond those of the text reach
 * the page too.
 */
export function appError<Reason extends FailureReason>(
  reason: Reason,
  ...[params, options]: NoParams extends FailureParams<Reason>
    ? [params?: ErrorParams, options?: AppErrorOptions]
    : [params: FailureParams<Reason> & ErrorParams, options?: AppErrorOptions]
): AppError {
  const said = options?.providerSays ?? ''
  const values: ErrorParams = { ...params, ...(said === '' ? {} : { detail: said }) }
  const text = failureText(reason, values)
  return new AppError(
    FAILURES[reason][0],
    said === '' ? text : `${text} The provider says: ${said}`,
    { ...options, reason, ...(Object.keys(values).length === 0 ? {} : { params: values }) },
  )
}

/** An error as another thread can send it. */
export type SentError = { reason: FailureReason; params?: ErrorParams }

/** The reason of an error with its parameters, to be stored beside its text; null for other values. */
export const namedFailure = (error: unknown): { reason: string; params?: ErrorParams } | null =>
  error instanceof AppError
    ? { reason: error.reason, ...(error.params === undefined ? {} : { params: error.params }) }
    : null

/**
 * What a person is told of an error that is stored: the text of a refusal, and how it is named. Of any other error, which may
 * name the host's paths, only that there was one; `onFault` has it logged.
 */
export function storedReason(
  error: unknown,
  onFault: (error: unknown) => void,
): { detail: string; failure: StoredFailure } {
  const named = namedFailure(error)
  if (named !== null) return { detail: errorText(error), failure: named }
  onFault(error)
  const { message, ...failure } = storedFailure('look_failed')
  return { detail: message, failure }
}

/** What another thread sends of an error; null for one without an entry in the list of failures. */
export const sentError = ({ reason, params }: AppError): SentError | null =>
  isFailureReason(reason) ? { reason, ...(params === undefined ? {} : { params }) } : null

/** The error that another thread has sent. */
export const receivedError = ({ reason, params = {} }: SentError): AppError =>
  new AppError(FAILURES[reason][0], failureText(reason, params), { reason, params })

/** Fields in which libraries put the text of plain-object errors, clearest first. */
const TEXT_FIELDS = ['message', 'error_description', 'error', 'code'] as const

/**
 * The text of any thrown value, for logs and as a last resort for results. For a plain object without a text, the names of
 * its fields, because their values may be secret.
 */
export function errorText(error: unknown): string {
  if (error instanceof Error) return error.message
  if (typeof error !== 'object' || error === null) return String(error)
  const fields = new Map<string, unknown>(Object.entries(error))
  for (const name of TEXT_FIELDS) {
    const text = fields.get(name)
    if (typeof text === 'string' && text !== '') return text
  }
  return fields.size === 0
    ? 'an error without a text'
    : `an error without a text (${[...fields.keys()].slice(0, 10).join(', ')})`
}

/** The error for work in a project that has been deleted. */
export const projectDeleted = (): AppError => appError('project_deleted')
