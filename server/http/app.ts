// The Fastify instance: zod schemas on both sides of every route, limits, timeouts and the one error handler.
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

/** The app that every `registerXRoutes(app, …)` gets. */
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
    /** Keeps its connection open while a run is active; counts toward the user's open streams. */
    stream?: boolean
    /** Its response can be megabytes in one piece, so few are prepared at once. */
    large?: boolean
  }
}

export interface AppOptions {
  /** Bytes of a JSON body. */
  bodyLimit: number
  /** Event streams that one user may have open. */
  streamsPerUser?: number
  /** Connections from one address. Those from a trusted proxy are not counted. */
  connectionsPerAddress?: number
  /** Milliseconds after which a connection without progress is closed; longer than any response takes to begin. */
  silentConnectionMs?: number
  /** Folder for large responses that wait for slow clients. */
  spoolFolder?: string | undefined
  /** Trust `X-Forwarded-For` from a proxy on this machine or a private network. */
  behindProxy?: boolean
  /** A pino logger; without one nothing is logged. */
  logger?: FastifyBaseLogger
}

const HEADERS_TIMEOUT_MS = 10_000
const BODY_TIMEOUT_MS = 30_000
/** How long a client may read nothing of a response, or stay silent. */
const STALL_MS = 30_000
/** An upload may take long while it makes progress; this bounds the slowest one. */
const WHOLE_REQUEST_TIMEOUT_MS = 60 * 60_000
const MAX_PARAMETER_LENGTH = 4096
/** Bytes of a body that is accepted without sign-in: enough for a name and a password. */
const PUBLIC_BODY_BYTES = 16 * 1024
/** The trusted proxies: on this machine or in a private network. */
const PROXIES = ['loopback', 'linklocal', 'uniquelocal']

/** Creates an app without routes. Every error in it is sent in the envelope that `error-handler.ts` writes. */
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
    // Streams are ended by the modules that own them when the server closes; idle keep-alive connections are closed at
    // once.
    forceCloseConnections: 'idle',
    // Sent below in the error envelope instead.
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    frameworkErrors: (error, request, reply) => {
      reply.hijack()
      sendFrameworkError(error, request, reply.raw)
    },
    clientErrorHandler(error, socket) {
      const requestId = newId()
      // Anybody can cause thousands of these, so they are not logged as warnings.
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
    // Otherwise the body of a request to an unknown address would be read, without sign-in.
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

/** The addresses that `PROXIES` names. */
const isPrivateAddress = (address: string): boolean => {
  const range = ipaddr.process(address).range()
  return ['loopback', 'linkLocal', 'uniqueLocal', 'private'].includes(range)
}
