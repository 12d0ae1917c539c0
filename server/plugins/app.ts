// The Fastify instance of this house: zod on both sides of every route, limits, time-outs and the one error handler.
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  LogController,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from 'fastify'
import {
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod'
import { newId } from '../lib/ids.ts'
import { answerFrameworkError, registerErrorHandler } from './error-handler.ts'
import { registerJsonBodies } from './json-body.ts'
import { answerClientError, guardSlowBodies } from './slow-clients.ts'

/** What every `registerXRoutes(app, …)` is given. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression<RawServerDefault>,
  RawReplyDefaultExpression<RawServerDefault>,
  FastifyBaseLogger,
  ZodTypeProvider
>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Served without signing in. Every other route under `/api` and `/v1` needs a user. */
    public?: boolean
    /** Served to administrators only. */
    admin?: boolean
    /** JSON arrays of this route may be longer than the usual bound. */
    longArrays?: boolean
  }
}

export interface AppOptions {
  /** Bytes of a JSON body. */
  bodyLimit: number
  /** Believe `X-Forwarded-For` of a proxy on this machine or a private network. */
  behindProxy?: boolean
  /** A pino logger; without one nothing is logged. */
  logger?: FastifyBaseLogger
}

const HEADERS_TIMEOUT_MS = 10_000
const BODY_TIMEOUT_MS = 30_000
/** An upload may take long as long as it moves; this bounds even the slowest. */
const WHOLE_REQUEST_TIMEOUT_MS = 60 * 60_000
const MAX_PARAMETER_LENGTH = 4096

/** An app without routes. Errors anywhere in it answer in the envelope `{code, message, details?}`. */
export function createApp({ bodyLimit, logger, behindProxy = false }: AppOptions): App {
  const app = Fastify({
    trustProxy: behindProxy ? ['loopback', 'linklocal', 'uniquelocal'] : false,
    ...(logger === undefined ? {} : { loggerInstance: logger }),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    genReqId: () => newId(),
    requestTimeout: WHOLE_REQUEST_TIMEOUT_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: 2000 },
    // Streams are ended by their own rooms when the server closes; idle keep-alive connections are closed at once.
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    frameworkErrors: (error, request, reply) => {
      reply.hijack()
      answerFrameworkError(error, request.log, reply.raw)
    },
    clientErrorHandler: answerClientError,
  }).withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  registerErrorHandler(app)
  registerJsonBodies(app)
  guardSlowBodies(app, BODY_TIMEOUT_MS)
  return app
}
