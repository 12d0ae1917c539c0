// The one place where a failed request becomes an answer: `{code, message, details?}` with that HTTP status.
import type { ServerResponse } from 'node:http'
import type {
  FastifyBaseLogger,
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
} from 'fastify'
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import { AppError } from '../errors.ts'
import type { ErrorBody } from '../protocol/error.ts'

type Answer = { status: number; message: string; details?: unknown; retryAfter?: number }

const SERVER_FAULT =
  'Something went wrong on the server. Try again; if it stays, the log holds the cause under the request id.'

/** Texts for what Fastify itself refuses; its own texts name internals. */
const frameworkAnswers: Record<string, Answer> = {
  FST_ERR_CTP_INVALID_JSON_BODY: { status: 400, message: 'The body is not valid JSON.' },
  FST_ERR_CTP_EMPTY_JSON_BODY: { status: 400, message: 'The body is empty.' },
  FST_ERR_CTP_BODY_TOO_LARGE: {
    status: 413,
    message: 'The body is larger than this server allows.',
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    status: 415,
    message: 'This content type is not read here; send application/json.',
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    status: 400,
    message: 'The body is not as long as Content-Length says.',
  },
  FST_ERR_BAD_URL: { status: 400, message: 'The URL is not valid.' },
  FST_ERR_MAX_PARAM_LENGTH: { status: 414, message: 'The URL is too long.' },
  FST_ERR_INVALID_URL: { status: 400, message: 'The URL is not valid.' },
  FST_REQ_FILE_TOO_LARGE: {
    status: 413,
    message: 'A file of the upload is larger than this server allows.',
  },
  FST_FILES_LIMIT: { status: 413, message: 'The upload holds more files than this server allows.' },
  FST_PARTS_LIMIT: { status: 413, message: 'The upload holds more parts than this server allows.' },
  FST_FIELDS_LIMIT: {
    status: 413,
    message: 'The upload holds more fields than this server allows.',
  },
  FST_INVALID_MULTIPART_CONTENT_TYPE: { status: 415, message: 'Send this as multipart/form-data.' },
}

const FULL_DISK: Answer = {
  status: 507,
  message: 'The disk is full: nothing was stored. Free some space.',
}
const TOO_MANY_OPEN: Answer = {
  status: 503,
  message: 'The server has too many files and connections open. Try again in a moment.',
  retryAfter: 1,
}

/** What the system refuses for lack of room, wherever it was asked; the rooms themselves say it in better words. */
const systemAnswers: Record<string, Answer> = {
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
    send(reply, { status: 404, message: 'There is nothing here.' }),
  )
}

/** Answers any thrown value. Status 500 and above is logged with its cause and answered with a neutral text. */
export function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const answer = toAnswer(error)
  if (answer.status >= 500)
    request.log.error({ err: error, route: request.routeOptions.url }, 'request failed')
  return send(reply, answer)
}

/** For faults that come before routing, such as a URL that cannot be decoded; writes to the bare response. */
export function answerFrameworkError(
  error: FastifyError,
  log: FastifyBaseLogger,
  response: ServerResponse,
): void {
  const answer = toAnswer(error)
  if (answer.status >= 500) log.error({ err: error }, 'request failed before routing')
  const body = JSON.stringify(toBody(answer))
  response
    .writeHead(answer.status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
    })
    .end(body)
}

function toAnswer(error: unknown): Answer {
  if (error instanceof AppError)
    return {
      status: error.status,
      message: error.message,
      ...(error.details === undefined ? {} : { details: error.details }),
      ...(error.retryAfter === undefined ? {} : { retryAfter: error.retryAfter }),
    }
  if (hasZodFastifySchemaValidationErrors(error)) return validationAnswer(error)
  const { code, statusCode } = frameworkFault(error)
  const known = code === undefined ? undefined : (frameworkAnswers[code] ?? systemAnswers[code])
  if (known !== undefined) return known
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return { status: statusCode, message: 'The request was refused.' }
  return { status: 500, message: SERVER_FAULT }
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

function validationAnswer(error: {
  validation: readonly ValidationFault[]
  validationContext?: string | undefined
}): Answer {
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
  return { status: 400, message, details }
}

function send(reply: FastifyReply, answer: Answer): FastifyReply {
  if (answer.retryAfter !== undefined)
    void reply.header('retry-after', String(Math.max(1, Math.ceil(answer.retryAfter))))
  return reply.code(answer.status).type('application/json; charset=utf-8').send(toBody(answer))
}

const toBody = ({ status, message, details }: Answer): ErrorBody => ({
  code: status,
  message,
  ...(details === undefined ? {} : { details }),
})
