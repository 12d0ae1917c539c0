// Converts model failures to errors that name the model and the kind of failure, and never contain a URL or a key.
import { AppError } from '../errors.ts'
import type { ErrorCode } from '../protocol/error.ts'

export interface FailureContext {
  /** The model's name for people. */
  model: string
  /** Redacted wherever a provider repeats it. */
  apiKey?: string | undefined
}

interface Reply {
  status: number
  /** The body, or the error object of a stream; any shape. */
  body: unknown
  /** Of the `Retry-After` header. */
  retryAfter?: number | undefined
}

const MAX_DETAIL = 300

/** The error for an HTTP status, with what to do. The detail is the provider's message, sanitized. */
export function statusFailure(reply: Reply, context: FailureContext, cause?: unknown): AppError {
  const { status } = reply
  const words = providerText(reply.body)
  const providerMessage = sanitize(words, context)
  const detail = withDetail(providerMessage)
  const name = `The model "${context.model}"`
  const options = { details: { status }, cause }
  const make = (code: ErrorCode, message: string, retryable = false, reason?: string) =>
    new AppError(code, message, {
      ...options,
      params: {
        model: context.model,
        status,
        ...(providerMessage === '' ? {} : { detail: providerMessage }),
        ...(reason === undefined ? {} : { reason }),
      },
      retryable,
      ...(reply.retryAfter === undefined ? {} : { retryAfter: reply.retryAfter }),
    })
  if (saysTooLong(words))
    return make('model_context_exceeded', `${name} can't take a conversation this long${detail}`)
  if (status === 401 || status === 403)
    return make(
      'model_unauthorized',
      `${name}: the provider refused the API key (${status}). Check the key in the model's settings.`,
    )
  if (status === 402)
    return make(
      'model_refused',
      `${name}: the account at the provider has no credit left (402).`,
      false,
      'credit',
    )
  if (status === 404)
    return make(
      'model_not_found',
      `${name}: the provider does not know this model or this address (404). Check api_url and upstream_model.`,
    )
  if (status === 429) {
    const empty = /insufficient_quota|exceeded your current quota|balance/i.test(words)
    return make(
      'model_rate_limited',
      empty
        ? `${name}: the quota at the provider is used up (429).`
        : `${name}: the provider asks to slow down (429). Try again in a moment.`,
      !empty,
      empty ? 'quota' : undefined,
    )
  }
  if (status === 408 || status === 504)
    return make('model_timeout', `${name}: the provider took too long (${status}).`, true)
  if (status >= 500)
    return make('model_unavailable', `${name}: the provider has a fault (${status})${detail}`, true)
  if (status >= 300 && status < 400)
    return make(
      'model_bad_answer',
      `${name}: the address answers with a redirect (${status}). Check api_url.`,
    )
  return make('model_refused', `${name} refused the request (${status})${detail}`)
}

/** An error object in the middle of a stream, or in the body of a 200. */
export function errorObjectFailure(error: unknown, context: FailureContext): AppError {
  const fields = asRecord(error)
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
  const detail = withDetail(sanitize(providerText(error), context))
  return new AppError(
    'model_unavailable',
    `The model "${context.model}": the provider reported a fault${detail}`,
    { retryable: true, cause: error, params: { model: context.model } },
  )
}

const connectionFaults: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  EHOSTUNREACH: 'the host is not reachable',
  ENETUNREACH: 'the network is not reachable',
}

/** The connection failed before a response was received. */
export function connectionFailure(error: unknown, context: FailureContext): AppError {
  const code = deepestCode(error)
  const fault =
    connectionFaults[code] ??
    (/CERT|SSL|TLS|SELF_SIGNED/.test(code)
      ? 'the secure connection failed'
      : 'the connection failed')
  return new AppError(
    'model_unavailable',
    `The model "${context.model}" can't be reached: ${fault}. Check the provider's address and the network.`,
    { retryable: true, cause: error, params: { model: context.model, reason: 'connection' } },
  )
}

/** The stream ended or the connection broke before the answer was complete. */
export const brokenStream = (context: FailureContext, cause?: unknown): AppError =>
  new AppError(
    'model_stream_broken',
    `The model "${context.model}": the connection ended before the answer was complete.`,
    { retryable: true, cause, params: { model: context.model } },
  )

export const silenceFailure = (context: FailureContext, seconds: number): AppError =>
  new AppError(
    'model_timeout',
    `The model "${context.model}" sent nothing for ${Math.round(seconds * 10) / 10} seconds.`,
    {
      retryable: true,
      params: { model: context.model, seconds: Math.round(seconds * 10) / 10, reason: 'silence' },
    },
  )

export const unreadableAnswer = (context: FailureContext, what: string): AppError =>
  new AppError(
    'model_bad_answer',
    `The model "${context.model}" answered with ${what}. Check that api_url is an OpenAI-compatible API.`,
    { params: { model: context.model } },
  )

/** The error of an aborted request; its text is never shown. */
export const abortedFailure = (context: FailureContext): AppError =>
  new AppError('model_stream_broken', `The request to "${context.model}" was stopped.`)

/** Parses a `Retry-After` header (a number or a date) to seconds; undefined if there is none. `now` in milliseconds. */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null || header.trim() === '') return undefined
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return Math.max(0, seconds)
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1000)
}

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {}

/** The message in an error body of any shape; empty for HTML pages and empty bodies. */
function providerText(body: unknown): string {
  // If the text contains HTML, use only what precedes it.
  if (typeof body === 'string') return body.split(/<(?:!|\/?[a-z])/i, 1)[0] ?? ''
  const fields = asRecord(body)
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
const hostAndPort =
  /(?:\[[0-9a-f:.]+\]|\b\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?|\b(?:localhost|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}):\d{2,5}|\b[a-z][\w-]*:\d{4,5}\b/gi

/** Reduces a provider's message to one short line without keys and addresses. */
function sanitize(words: string, context: FailureContext): string {
  const apiKey = context.apiKey ?? ''
  const withoutKey = apiKey.length >= 4 ? words.replaceAll(apiKey, '[key]') : words
  return withoutKey
    .slice(0, 4000)
    .replace(/\b(sk|pk|nc|gsk|or)-[\w-]{6,}/g, '[key]')
    .replace(/\b[a-z][a-z+.-]*:\/\/\S+/gi, '[address]')
    .replace(hostAndPort, '[address]')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_DETAIL)
}

const withDetail = (detail: string): string => (detail === '' ? '.' : `: ${detail}`)

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
