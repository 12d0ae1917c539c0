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
import ipaddr from 'ipaddr.js'
import { appError } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import { limitConnections } from './connection-limit.ts'
import { REQUEST_ID_HEADER, registerErrorHandler, sendFrameworkError } from './error-handler.ts'
import { registerJsonBodies } from './json-body.ts'
import { boundLargeResponses } from './large-responses.ts'
import {
  answerClientError,
  dropStalledReaders,
  guardSlowBodies,
  refuseSecondHost,
} from './slow-clients.ts'
import { limitStreams } from './stream-limit.ts'

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
    /** Holds its connection open while a run goes on; counts towards the user's open streams. */
    stream?: boolean
    /** Its response may have megabytes in one piece: few of them are prepared at once. */
    large?: boolean
  }
}

export interface AppOptions {
  /** Bytes of a JSON body. */
  bodyLimit: number
  /** Event streams that one user may have open. */
  streamsPerUser?: number
  /** Connections from one address; those of a proxy are not counted. */
  connectionsPerAddress?: number
  /** Milliseconds after which a connection that nothing moves on is closed; longer than any answer takes. */
  silentConnectionMs?: number
  /** Folder for large responses that wait for their clients. */
  spoolFolder?: string | undefined
  /** Believe `X-Forwarded-For` of a proxy on this machine or a private network. */
  behindProxy?: boolean
  /** A pino logger; without one nothing is logged. */
  logger?: FastifyBaseLogger
}

const HEADERS_TIMEOUT_MS = 10_000
const BODY_TIMEOUT_MS = 30_000
/** What a client that takes nothing of a response, or says nothing at all, may cost. */
const STALL_MS = 30_000
/** An upload may take long as long as it moves; this bounds even the slowest. */
const WHOLE_REQUEST_TIMEOUT_MS = 60 * 60_000
const MAX_PARAMETER_LENGTH = 4096
/** Bytes of a body that comes without signing in: a name and a password, generously. */
const PUBLIC_BODY_BYTES = 16 * 1024
/** The proxies that are believed: on this machine or in a private network. */
const PROXIES = ['loopback', 'linklocal', 'uniquelocal']

/** An app without routes. Errors anywhere in it answer in the envelope `{code, message, error, request_id, details?}`. */
export function createApp({
  bodyLimit,
  logger,
  behindProxy = false,
  streamsPerUser = Number.POSITIVE_INFINITY,
  connectionsPerAddress = Number.POSITIVE_INFINITY,
  silentConnectionMs = 0,
  spoolFolder,
}: AppOptions): App {
  const app = Fastify({
    trustProxy: behindProxy ? PROXIES : false,
    ...(logger === undefined ? {} : { loggerInstance: logger }),
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'request_id',
    }),
    bodyLimit,
    genReqId: () => newId(),
    requestTimeout: WHOLE_REQUEST_TIMEOUT_MS,
    keepAliveTimeout: STALL_MS,
    connectionTimeout: silentConnectionMs,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: 2000 },
    // Streams are ended by their own rooms when the server closes; idle keep-alive connections are closed at once.
    forceCloseConnections: 'idle',
    // Answered below in the error envelope instead.
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    frameworkErrors: (error, request, reply) => {
      reply.hijack()
      sendFrameworkError(error, request, reply.raw)
    },
    clientErrorHandler(error, socket) {
      const requestId = newId()
      // Anybody can cause these by the thousand, so that they are no news to an operator.
      app.log.debug({ request_id: requestId, code: error.code }, 'refused what is not a request')
      answerClientError(error, socket, requestId)
    },
  }).withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.addHook('onRoute', (route) => {
    if (route.config?.public === true) route.bodyLimit ??= PUBLIC_BODY_BYTES
  })
  registerErrorHandler(app)
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onRequest', async (request, reply) => {
    void reply.header(REQUEST_ID_HEADER, request.id)
    if (!isClosing) return
    void reply.header('connection', 'close')
    throw appError(
      'shutting_down',
      {},
      {
        retryAfter: 5,
      },
    )
  })
  app.addHook('onRequest', async (request) => {
    refuseSecondHost(request.raw)
    // Otherwise the body of a request to nowhere would be read, from anybody.
    if (request.is404 && !['GET', 'HEAD'].includes(request.method)) throw appError('nothing_here')
  })
  registerJsonBodies(app)
  guardSlowBodies(app, BODY_TIMEOUT_MS)
  dropStalledReaders(app, STALL_MS)
  limitStreams(app, streamsPerUser)
  boundLargeResponses(app, spoolFolder)
  const isProxy = behindProxy ? isPrivateAddress : () => false
  limitConnections(app.server, connectionsPerAddress, isProxy)
  return app
}

/** What `PROXIES` names. */
const isPrivateAddress = (address: string): boolean => {
  const range = ipaddr.process(address).range()
  return ['loopback', 'linkLocal', 'uniqueLocal', 'private'].includes(range)
}
