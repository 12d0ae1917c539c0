// The one place where a failed request becomes a response: `{code, message, error, request_id, details?}` with that status.
import type { ServerResponse } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import { AppError } from '../errors.ts'
import { type ErrorBody, type ErrorCode, errorCodes } from '../protocol/error.ts'

/** On every response, and in every line that is logged for its request. */
export const REQUEST_ID_HEADER = 'x-request-id'

/** What a failed request is answered with; the status is that of the code unless it says another. */
type Failure = {
  error: ErrorCode
  status?: number
  message: string
  details?: unknown
  /** Seconds. */
  retryAfter?: number
}

const SERVER_FAULT =
  'Something went wrong on the server. Try again; if it stays, the log holds the cause under the request id.'

/** Texts for what Fastify itself refuses; its own texts name internals. */
const frameworkFailures: Record<string, Failure> = {
  FST_ERR_CTP_INVALID_JSON_BODY: { error: 'bad_request', message: 'The body is not valid JSON.' },
  FST_ERR_CTP_EMPTY_JSON_BODY: { error: 'bad_request', message: 'The body is empty.' },
  FST_ERR_CTP_BODY_TOO_LARGE: {
    error: 'payload_too_large',
    message: 'The body is larger than this server allows.',
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    error: 'unsupported_media_type',
    message: 'This content type is not read here; send application/json.',
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    error: 'bad_request',
    message: 'The body is not as long as Content-Length says.',
  },
  FST_ERR_BAD_URL: { error: 'bad_request', message: 'The URL is not valid.' },
  FST_ERR_MAX_PARAM_LENGTH: { error: 'url_too_long', message: 'The URL is too long.' },
  FST_ERR_INVALID_URL: { error: 'bad_request', message: 'The URL is not valid.' },
  FST_REQ_FILE_TOO_LARGE: {
    error: 'payload_too_large',
    message: 'A file of the upload is larger than this server allows.',
  },
  FST_FILES_LIMIT: {
    error: 'payload_too_large',
    message: 'The upload holds more files than this server allows.',
  },
  FST_PARTS_LIMIT: {
    error: 'payload_too_large',
    message: 'The upload holds more parts than this server allows.',
  },
  FST_FIELDS_LIMIT: {
    error: 'payload_too_large',
    message: 'The upload holds more fields than this server allows.',
  },
  FST_INVALID_MULTIPART_CONTENT_TYPE: {
    error: 'unsupported_media_type',
    message: 'Send this as multipart/form-data.',
  },
}

const FULL_DISK: Failure = {
  error: 'store_full',
  message: 'The disk is full: nothing was stored. Free some space.',
}
const TOO_MANY_OPEN: Failure = {
  error: 'server_busy',
  message: 'The server has too many files and connections open. Try again in a moment.',
  retryAfter: 1,
}

/** What the system refuses for lack of room, wherever it was asked; the modules themselves say it in better words. */
const systemFailures: Record<string, Failure> = {
  ENOSPC: FULL_DISK,
  EDQUOT: FULL_DISK,
  EMFILE: TOO_MANY_OPEN,
  ENFILE: TOO_MANY_OPEN,
}

/** Registers the error handler and the 404 answer of everything that is not there. */
export function registerErrorHandler(
  app: Pick<FastifyInstance, 'setErrorHandler' | 'setNotFoundHandler'>,
): void {
  app.setErrorHandler(answerError)
  app.setNotFoundHandler((_request, reply) =>
    send(reply, { error: 'not_found', message: 'There is nothing here.' }),
  )
}

/** Answers any thrown value. Status 500 and above is logged with its cause and answered with a neutral text. */
export function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const failure = toFailure(error)
  if (statusOf(failure) >= 500)
    request.log.error({ err: error, route: request.routeOptions.url }, 'request failed')
  return send(reply, failure)
}

/** For faults that come before routing, such as a URL that cannot be decoded; writes to the bare response. */
export function answerFrameworkError(
  error: FastifyError,
  request: Pick<FastifyRequest, 'id' | 'log'>,
  response: ServerResponse,
): void {
  const failure = toFailure(error)
  if (statusOf(failure) >= 500) request.log.error({ err: error }, 'request failed before routing')
  const body = JSON.stringify(toErrorBody(failure, request.id))
  response
    .writeHead(statusOf(failure), {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      [REQUEST_ID_HEADER]: request.id,
    })
    .end(body)
}

const statusOf = ({ error, status }: Failure): number => status ?? errorCodes[error]

function toFailure(error: unknown): Failure {
  if (error instanceof AppError)
    return {
      error: error.code,
      message: error.message,
      ...(error.details === undefined ? {} : { details: error.details }),
      ...(error.retryAfter === undefined ? {} : { retryAfter: error.retryAfter }),
    }
  if (hasZodFastifySchemaValidationErrors(error)) return validationFailure(error)
  const { code, statusCode } = frameworkFault(error)
  const known = code === undefined ? undefined : (frameworkFailures[code] ?? systemFailures[code])
  if (known !== undefined) return known
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return { error: 'bad_request', status: statusCode, message: 'The request was refused.' }
  return { error: 'internal', message: SERVER_FAULT }
}

function frameworkFault(error: unknown): { code?: string; statusCode?: number } {
  if (!(error instanceof Error)) return {}
  const { code, statusCode } = error as Partial<FastifyError> // the two fields that Fastify's errors add
  return {
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof statusCode === 'number' ? { statusCode } : {}),
  }
}

interface ValidationFault {
  instancePath: string
  message?: string
}

function validationFailure(error: {
  validation: readonly ValidationFault[]
  validationContext?: string | undefined
}): Failure {
  const details = error.validation.slice(0, 20).map(({ instancePath, message }) => ({
    path: instancePath.replace(/^\//, '').replaceAll('/', '.'),
    message: message ?? 'is not valid',
  }))
  const first = details[0]
  const place = error.validationContext ?? 'request'
  const message =
    first === undefined
      ? `The ${place} is not valid.`
      : `The ${place} is not valid: ${first.path === '' ? '' : `${first.path}: `}${first.message}`
  return { error: 'validation_failed', message, details }
}

function send(reply: FastifyReply, failure: Failure): FastifyReply {
  if (failure.retryAfter !== undefined)
    void reply.header('retry-after', String(Math.max(1, Math.ceil(failure.retryAfter))))
  return reply
    .code(statusOf(failure))
    .type('application/json; charset=utf-8')
    .send(toErrorBody(failure, reply.request.id))
}

/** The body of a failed request. */
export const toErrorBody = (failure: Failure, requestId: string): ErrorBody => ({
  code: statusOf(failure),
  message: failure.message,
  error: failure.error,
  request_id: requestId,
  ...(failure.details === undefined ? {} : { details: failure.details }),
})
