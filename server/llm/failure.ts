// Failures of models as errors that name the kind of failure and the model, never a URL or a key.
import { type AppError, appError } from '../errors.ts'
import { asRecord } from '../lib/records.ts'

/** What the text of an error mentions. */
export interface FailureContext {
  /** The model's name for people. */
  model: string
  /** Redacted if the provider repeats it. */
  apiKey?: string | undefined
}

interface Reply {
  status: number
  /** The body, or the error object of a stream. May have any shape. */
  body: unknown
  /** Seconds, from the `Retry-After` header. */
  retryAfter?: number | undefined
}

const MAX_DETAIL = 300

/** The error for an HTTP status. It says what to do, and quotes the provider's message, sanitized. */
export function statusFailure(reply: Reply, context: FailureContext, cause?: unknown): AppError {
  const { status, retryAfter } = reply
  const words = providerText(reply.body)
  const reason = reasonOf(status, words)
  return appError(
    reason,
    {
      model: context.model,
      status,
      ...(retryAfter === undefined ? {} : { retry_after_seconds: Math.ceil(retryAfter) }),
    },
    {
      details: { status },
      cause,
      retryable: MAY_PASS.has(reason),
      providerSays: sanitize(words, context),
      ...(retryAfter === undefined ? {} : { retryAfter }),
    },
  )
}

/** Reasons that another attempt may not meet again. */
const MAY_PASS: ReadonlySet<string> = new Set([
  'model_rate_limited',
  'model_timeout',
  'model_unavailable',
])

function reasonOf(status: number, words: string) {
  if (saysTooLong(words)) return 'model_context_exceeded'
  if (status === 401 || status === 403) return 'model_unauthorized'
  if (status === 402) return 'model_refused_credit'
  if (status === 404) return 'model_not_found'
  if (status === 429)
    return /insufficient_quota|exceeded your current quota|balance/i.test(words)
      ? 'model_rate_limited_quota'
      : 'model_rate_limited'
  if (status === 408 || status === 504) return 'model_timeout'
  if (status >= 500) return 'model_unavailable'
  return status >= 300 && status < 400 ? 'model_redirected' : 'model_refused'
}

/** The error for an error object within a stream or in the body of a 200. */
export function errorObjectFailure(error: unknown, context: FailureContext): AppError {
  const fields = asRecord(error) ?? {}
  const code = fields.code ?? fields.status
  const status = Number(code)
  if (Number.isInteger(status) && status >= 400 && status < 600)
    return statusFailure({ status, body: error }, context)
  const words = `${providerText(error)} ${String(fields.type ?? '')} ${String(code ?? '')}`
  if (/rate.?limit|too many requests/i.test(words))
    return statusFailure({ status: 429, body: error }, context)
  if (/api.?key|unauthori[sz]ed|authentication/i.test(words))
    return statusFailure({ status: 401, body: error }, context)
  if (/invalid_request|bad.?request/i.test(words))
    return statusFailure({ status: 400, body: error }, context)
  if (saysTooLong(words)) return statusFailure({ status: 400, body: error }, context)
  return appError(
    'model_unavailable_reported',
    { model: context.model },
    { retryable: true, cause: error, providerSays: sanitize(providerText(error), context) },
  )
}

const CONNECTION_REASONS = {
  ECONNREFUSED: 'model_unavailable_connection_refused',
  ENOTFOUND: 'model_unavailable_host_unknown',
  EAI_AGAIN: 'model_unavailable_host_not_found',
  ECONNRESET: 'model_unavailable_connection_closed',
  EPIPE: 'model_unavailable_connection_closed',
  UND_ERR_SOCKET: 'model_unavailable_connection_closed',
  ETIMEDOUT: 'model_unavailable_connection_timed_out',
  UND_ERR_CONNECT_TIMEOUT: 'model_unavailable_connection_timed_out',
  EHOSTUNREACH: 'model_unavailable_host_unreachable',
  ENETUNREACH: 'model_unavailable_network',
} as const
const isConnectionFault = (code: string): code is keyof typeof CONNECTION_REASONS =>
  Object.hasOwn(CONNECTION_REASONS, code)

/** The connection failed before a response was received. */
export function connectionFailure(error: unknown, context: FailureContext): AppError {
  const code = deepestCode(error)
  const reason = isConnectionFault(code)
    ? CONNECTION_REASONS[code]
    : /CERT|SSL|TLS|SELF_SIGNED/.test(code)
      ? 'model_unavailable_insecure'
      : 'model_unavailable_connection'
  return appError(reason, { model: context.model }, { retryable: true, cause: error })
}

/** The stream ended or broke before the model had finished. */
export const brokenStream = ({ model }: FailureContext, cause?: unknown): AppError =>
  appError('model_stream_broken', { model }, { retryable: true, cause })

/** Parts of the answer arrived twice or out of order, so the received text may differ from what the model wrote. */
export const disorderedStream = ({ model }: FailureContext): AppError =>
  appError('model_stream_disordered', { model }, { retryable: true })

/** The provider sent more than any model writes, and did not end. */
export const endlessAnswer = ({ model }: FailureContext): AppError =>
  appError('model_answer_endless', { model })

/** The provider sent nothing for `seconds`. A retry may succeed. */
export const silenceFailure = ({ model }: FailureContext, seconds: number): AppError =>
  appError(
    'model_timeout_silence',
    { model, seconds: Math.round(seconds * 10) / 10 },
    { retryable: true },
  )

/** The response is not in the format of a chat API. */
export const unreadableAnswer = (
  { model }: FailureContext,
  reason:
    | 'model_answer_empty'
    | 'model_answer_is_page'
    | 'model_answer_no_json'
    | 'model_answer_no_stream',
): AppError => appError(reason, { model })

/** The client reported neither that the answer is complete nor why it is not. */
export const unfinishedAnswer = (): AppError => appError('model_answer_unfinished')

/** In prompt mode: the model must write its tool call again. */
export const unreadableCall = (): AppError => appError('model_call_unreadable')

/** The end of an aborted request. Nobody reads its text. */
export const abortedFailure = ({ model }: FailureContext): AppError =>
  appError('model_stopped', { model })

/** Parses a `Retry-After` header (a number or a date) to seconds; undefined if there is none. `now` is in milliseconds. */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null || header.trim() === '') return undefined
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return Math.max(0, seconds)
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1000)
}

/** The message in an error body of any shape; empty for HTML pages and empty bodies. */
function providerText(body: unknown): string {
  // If the text contains HTML, use only what precedes it.
  if (typeof body === 'string') return body.split(/<(?:!|\/?[a-z])/i, 1)[0] ?? ''
  const fields = asRecord(body) ?? {}
  for (const key of ['message', 'msg', 'detail', 'error']) {
    const value = fields[key]
    if (typeof value === 'string' || (typeof value === 'object' && value !== null))
      return providerText(value)
  }
  return ''
}

const saysTooLong = (words: string): boolean =>
  /context.{0,20}(length|window|size)|maximum context|too many tokens|prompt is too long|input is too long/i.test(
    words,
  )

/** Hosts with a port, and IP addresses. */
const HOST_AND_PORT =
  /(?:\[[0-9a-f:.]+\]|\b\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?|\b(?:localhost|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}):\d{2,5}|\b[a-z][\w-]*:\d{4,5}\b/gi

/** Reduces a provider's message to one short line without keys and addresses. */
function sanitize(words: string, context: FailureContext): string {
  const apiKey = context.apiKey ?? ''
  const withoutKey = apiKey.length >= 4 ? words.replaceAll(apiKey, '[key]') : words
  return withoutKey
    .slice(0, 4000)
    .replace(/\b(sk|pk|nc|gsk|or)-[\w-]{6,}/g, '[key]')
    .replace(/\b[a-z][a-z+.-]*:\/\/\S+/gi, '[address]')
    .replace(HOST_AND_PORT, '[address]')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_DETAIL)
}

function deepestCode(error: unknown): string {
  let code = ''
  let at: unknown = error
  for (let depth = 0; depth < 5 && at instanceof Error; depth += 1) {
    if ('code' in at && typeof at.code === 'string') code = at.code
    const inner: unknown = at instanceof AggregateError ? at.errors[0] : undefined
    at = inner ?? at.cause
  }
  return code
}
