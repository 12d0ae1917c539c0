// Turns every failed request into a response: the status and `{code, message, error, reason, request_id, params?, details?}`.
import type { ServerResponse } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { AppError, appError } from '../errors.ts'
import { type AnthropicError, anthropicError } from '../protocol/anthropic/error.ts'
import { ERROR_CODES, type ErrorBody, type ErrorCode, type ErrorParams } from '../protocol/error.ts'
import type { FailureReason } from '../protocol/failures.ts'
import type { FieldFault } from '../protocol/field-fault.ts'
import { type OpenAiError, openAiError, programStatus } from '../protocol/openai/error.ts'

/** Sent with every response; the id is also in every log line of the request. */
export const REQUEST_ID_HEADER = 'x-request-id'

/** The content of an error response. The status defaults to that of the error code. */
type Failure = {
  error: ErrorCode
  reason: FailureReason | ErrorCode
  message: string
  status?: number | undefined
  params?: ErrorParams | undefined
  details?: unknown
  /** Seconds. */
  retryAfter?: number | undefined
}

/** Routes whose errors have OpenAI's form. */
const OPENAI_PATH = /^\/v1(\/|\?|$)/

/** Routes whose errors have Anthropic's form. */
const ANTHROPIC_PATH = /^\/v1\/messages(\/|\?|$)/

/** The details of a validation error, as `validationFailure` writes them. */
const ValidationDetails = z.array(z.object({ path: z.string() }))

/** Reasons for errors that Fastify itself raises, because its own messages expose internals. */
const FRAMEWORK_REASONS = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'body_not_json',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'body_empty',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'content_type_unsupported',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'content_length_wrong',
  FST_ERR_BAD_URL: 'url_invalid',
  FST_ERR_INVALID_URL: 'url_invalid',
  FST_ERR_MAX_PARAM_LENGTH: 'url_too_long',
  FST_REQ_FILE_TOO_LARGE: 'uploaded_file_too_large',
  FST_FILES_LIMIT: 'upload_too_many_files',
  FST_PARTS_LIMIT: 'upload_too_many_parts',
  FST_FIELDS_LIMIT: 'upload_too_many_fields',
  FST_INVALID_MULTIPART_CONTENT_TYPE: 'multipart_expected',
  // Out of disk space or file descriptors, where no module gave a better reason.
  ENOSPC: 'store_full',
  EDQUOT: 'store_full',
  EMFILE: 'too_many_open',
  ENFILE: 'too_many_open',
} as const satisfies Record<string, FailureReason>

const isFrameworkCode = (code: string): code is keyof typeof FRAMEWORK_REASONS =>
  Object.hasOwn(FRAMEWORK_REASONS, code)

/** Registers the error handler, and the 404 handler for paths without a route. */
export function registerErrorHandler(
  app: Pick<FastifyInstance, 'setErrorHandler' | 'setNotFoundHandler'>,
): void {
  app.setErrorHandler(sendError)
  app.setNotFoundHandler((_request, reply) => send(reply, failureOf(appError('nothing_here'))))
}

/** Responds to any thrown value. Status 500 and above is logged with the cause; the response has a neutral message. */
export function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const failure = toFailure(error)
  if (statusOf(failure) >= 500)
    request.log.error({ err: error, route: request.routeOptions.url }, 'request failed')
  return send(reply, failure)
}

/** Sends an error on a response that Fastify does not manage, for example if the URL cannot be decoded. */
export function sendRawError(
  error: unknown,
  request: Pick<FastifyRequest, 'id' | 'log' | 'url' | 'ip'>,
  response: ServerResponse,
): void {
  const failure = toFailure(error)
  const { status, content } = contentFor(request, failure)
  if (status >= 500) request.log.error({ err: error }, 'request failed')
  else request.log.info({ status, address: request.ip, reason: failure.reason }, 'request refused')
  const body = JSON.stringify(content)
  response
    .writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      [REQUEST_ID_HEADER]: request.id,
    })
    .end(body)
}

const statusOf = ({ error, status }: Failure): number => status ?? ERROR_CODES[error]

function toFailure(error: unknown): Failure {
  if (error instanceof AppError) return failureOf(error)
  if (hasZodFastifySchemaValidationErrors(error)) return validationFailure(error)
  const { code, statusCode } = frameworkFault(error)
  if (code !== undefined && isFrameworkCode(code))
    return failureOf(
      appError(
        FRAMEWORK_REASONS[code],
        {},
        code.startsWith('EM') || code.startsWith('ENF') ? { retryAfter: 1 } : {},
      ),
    )
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return { ...failureOf(appError('request_refused')), status: statusCode }
  return failureOf(appError('internal'))
}

const failureOf = ({
  code,
  status,
  reason,
  message,
  params,
  details,
  retryAfter,
}: AppError): Failure => ({
  error: code,
  status,
  reason,
  message,
  params,
  details,
  retryAfter,
})

function frameworkFault(error: unknown): { code?: string; statusCode?: number } {
  if (!(error instanceof Error)) return {}
  const { code, statusCode } = error as Partial<FastifyError> // the two fields that Fastify adds to its errors
  return {
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof statusCode === 'number' ? { statusCode } : {}),
  }
}

interface ValidationFault {
  instancePath: string
  message?: string
  /** Zod's code of the issue. */
  keyword?: string
  /** The rest of Zod's issue. */
  params?: Record<string, unknown>
}

/** What is wrong with a field, for pages that say so in their reader's language. */
function faultOf({ keyword, params = {}, message = '' }: ValidationFault): FieldFault {
  const { origin, minimum, maximum, format } = params
  const bound = keyword === 'too_small' ? minimum : maximum
  const limit = typeof bound === 'number' ? { limit: bound } : {}
  const isMany = origin === 'array' || origin === 'set' || origin === 'map'
  if (keyword === 'too_small')
    return { fault: origin === 'string' ? 'too_short' : isMany ? 'too_few' : 'too_small', ...limit }
  if (keyword === 'too_big')
    return { fault: origin === 'string' ? 'too_long' : isMany ? 'too_many' : 'too_large', ...limit }
  if (keyword === 'invalid_type' && message.endsWith('received undefined'))
    return { fault: 'missing' }
  if (keyword === 'invalid_format' && (format === 'url' || format === 'email'))
    return { fault: format }
  return { fault: keyword === 'invalid_format' ? 'form' : 'value' }
}

function validationFailure(error: {
  validation: readonly ValidationFault[]
  validationContext?: string | undefined
}): Failure {
  const details = error.validation.slice(0, 20).map((fault) => ({
    path: fault.instancePath.replace(/^\//, '').replaceAll('/', '.'),
    message: fault.message ?? 'is not valid',
    ...faultOf(fault),
  }))
  const first = details[0]
  const part = error.validationContext ?? 'request'
  if (first === undefined) return failureOf(appError('request_invalid', { part }))
  const detail = `${first.path === '' ? '' : `${first.path}: `}${first.message}`
  return failureOf(appError('request_field_invalid', { part, detail }, { details }))
}

function send(reply: FastifyReply, failure: Failure): FastifyReply {
  if (failure.retryAfter !== undefined)
    void reply.header('retry-after', String(Math.max(1, Math.ceil(failure.retryAfter))))
  reply.request.refusal = failure.reason
  const { status, content } = contentFor(reply.request, failure)
  return reply.code(status).type('application/json; charset=utf-8').send(content)
}

/** The status and body, in the format that belongs to the request's path. */
const contentFor = (
  { url, id }: Pick<FastifyRequest, 'url' | 'id'>,
  failure: Failure,
): { status: number; content: ErrorBody | OpenAiError | AnthropicError } =>
  ANTHROPIC_PATH.test(url)
    ? { status: programStatusOf(failure), content: toAnthropicBody(failure, id) }
    : OPENAI_PATH.test(url)
      ? { status: programStatusOf(failure), content: toOpenAiBody(failure, id) }
      : { status: statusOf(failure), content: toBody(failure, id) }

const programStatusOf = (failure: Failure): number =>
  programStatus({ ...failure, status: statusOf(failure) })

const toAnthropicBody = (failure: Failure, requestId: string): AnthropicError => ({
  type: 'error',
  error: anthropicError({
    status: programStatusOf(failure),
    message: failure.message,
    code: failure.reason,
  }),
  request_id: requestId,
})

function toOpenAiBody(failure: Failure, requestId: string): OpenAiError {
  const { reason, message, details } = failure
  const first = ValidationDetails.safeParse(details).data?.[0]?.path
  return {
    error: openAiError({
      status: programStatusOf(failure),
      message,
      code: reason,
      ...(first === undefined || first === '' ? {} : { param: first }),
    }),
    request_id: requestId,
  }
}

const toBody = (failure: Failure, requestId: string): ErrorBody => ({
  code: statusOf(failure),
  message: failure.message,
  error: failure.error,
  reason: failure.reason,
  request_id: requestId,
  ...(failure.params === undefined ? {} : { params: failure.params }),
  ...(failure.details === undefined ? {} : { details: failure.details }),
})

/** The response body for this error. */
export const toErrorBody = (error: AppError, requestId: string): ErrorBody =>
  toBody(failureOf(error), requestId)
