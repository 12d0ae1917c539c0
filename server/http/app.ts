// Creates the Fastify instance: zod validation and serialization, limits, timeouts and the error handler.
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  LogController,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from 'fastify'
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { appError } from '../errors.ts'
import { inRanges } from '../lib/address-ranges.ts'
import { newId } from '../lib/ids.ts'
import type { Slots } from '../lib/limits.ts'
import { PAGE_ITEMS } from '../protocol/envelope.ts'
import { createConnectionCloser } from './connection-closer.ts'
import { limitConnections } from './connection-limit.ts'
import { REQUEST_ID_HEADER, registerErrorHandler, sendRawError } from './error-handler.ts'
import { DEFAULT_JSON_DEPTH, registerJsonBodies } from './json-body.ts'
import { boundLargeResponses } from './large-responses.ts'
import { validateLongLists, validatorOfRoutes } from './long-lists.ts'
import { boundPages } from './page-size.ts'
import { logRequests } from './request-log.ts'
import {
  answerClientError,
  closeUnfinishedBodies,
  dropStalledReaders,
  guardSlowBodies,
  refuseSecondHost,
} from './slow-clients.ts'
import { limitStreams } from './stream-limit.ts'
import { warnOfUnknownProxies } from './unknown-proxies.ts'

/** The type of the app that `registerXRoutes(app, …)` receives. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression<RawServerDefault>,
  RawReplyDefaultExpression<RawServerDefault>,
  FastifyBaseLogger,
  ZodTypeProvider
>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Accessible without signing in. All other routes under `/api` and `/v1` require a user. */
    public?: boolean
    /** For public routes: identifies the user of a request with a valid credential. */
    mayKnowUser?: boolean
    /** Accessible to administrators only. */
    admin?: boolean
    /** Not accessible with an API key, because the route would let a stolen key outlive its deletion. */
    signedIn?: boolean
    /** JSON arrays in the body may exceed the usual limit. */
    longArrays?: boolean
    /** The field of the body whose items are validated in pieces, because there may be thousands. */
    longList?: string
    /** Keeps its connection open while a run is active; counts toward the user's open streams. */
    stream?: boolean
    /** The response may be several megabytes in one piece, so only a few are prepared at a time. */
    large?: boolean
  }
}

/** The options of the HTTP server. */
export interface AppOptions {
  /** Maximum size of a JSON body, in bytes. */
  bodyLimit: number
  /** Maximum levels of nesting of a JSON body. */
  jsonDepth?: number
  /** Maximum number of items per page of a list. */
  pageItems?: number
  /** Counts the open event streams of each user; by default, they are unlimited. */
  streamSlots?: Slots
  /** Maximum number of connections per address. Connections from a trusted proxy are not counted. */
  connectionsPerAddress?: number
  /** Milliseconds after which a connection without progress is closed. Must exceed the time until any response starts. */
  silentConnectionMs?: number
  /** Folder in which large responses are stored for slow clients. */
  spoolFolder?: string | undefined
  /** Addresses and CIDR ranges of the proxies whose `X-Forwarded-For` is believed; by default, none is. */
  trustedProxies?: readonly string[]
  /** If false, requests that still arrive while the server closes are served: other instances perform what they start. */
  refusesWhileClosing?: boolean
  /** A pino logger; without one nothing is logged. */
  logger?: FastifyBaseLogger
}

const HEADERS_TIMEOUT_MS = 10_000
const BODY_TIMEOUT_MS = 30_000
/** Clients that neither read nor send for this long are disconnected. */
const STALL_MS = 30_000
/** Uploads may take long as long as they make progress; this is the upper limit. */
const WHOLE_REQUEST_TIMEOUT_MS = 60 * 60_000
/** As long as a whole request line may be, so that a route is found whatever its parameters are. */
const MAX_PARAMETER_LENGTH = 16 * 1024
/** Maximum size of a body on public routes: enough for a name and a password. */
const PUBLIC_BODY_BYTES = 16 * 1024

/** Every schema is a zod schema, with the compilers that `createApp` sets. */
const neverCompiled = (): never => {
  throw new Error('a schema that is not of zod')
}

/** Creates an app without routes. Errors are sent in the envelope of `error-handler.ts`. */
export function createApp({
  bodyLimit,
  jsonDepth = DEFAULT_JSON_DEPTH,
  pageItems = PAGE_ITEMS,
  logger,
  trustedProxies = [],
  streamSlots,
  connectionsPerAddress = Number.POSITIVE_INFINITY,
  silentConnectionMs = 0,
  spoolFolder,
  refusesWhileClosing = true,
}: AppOptions): App {
  const isProxy = inRanges(trustedProxies)
  const app = Fastify({
    trustProxy: trustedProxies.length > 0 ? isProxy : false,
    ...(logger === undefined ? {} : { loggerInstance: logger }),
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'request_id',
    }),
    bodyLimit,
    // Otherwise Fastify loads compilers of its own: 12 ms of CPU time.
    schemaController: {
      compilersFactory: { buildValidator: neverCompiled, buildSerializer: neverCompiled },
    },
    genReqId: () => newId(),
    requestTimeout: WHOLE_REQUEST_TIMEOUT_MS,
    keepAliveTimeout: STALL_MS,
    connectionTimeout: silentConnectionMs,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: 2000 },
    // The `onRequest` hook below sends the 503 in the error envelope instead.
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    frameworkErrors: (error, request, reply) => {
      reply.hijack()
      sendRawError(error, request, reply.raw)
    },
    clientErrorHandler(error, socket) {
      const requestId = newId()
      // Anybody can cause thousands of these, so do not log them as warnings.
      app.log.debug({ request_id: requestId, code: error.code }, 'rejected a malformed request')
      answerClientError(error, socket, requestId)
    },
  }).withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorOfRoutes)
  validateLongLists(app)
  app.setSerializerCompiler(serializerCompiler)
  app.addHook('onRoute', (route) => {
    if (route.config?.public === true) route.bodyLimit ??= PUBLIC_BODY_BYTES
  })
  registerErrorHandler(app)
  logRequests(app)
  let isClosing = false
  // The modules that own streams end them when the server closes.
  const closeQuietConnections = createConnectionCloser(app.server)
  app.addHook('preClose', async () => {
    isClosing = true
    closeQuietConnections()
  })
  app.addHook('onRequest', async (request, reply) => {
    void reply.header(REQUEST_ID_HEADER, request.id)
    if (!isClosing) return
    void reply.header('connection', 'close')
    if (refusesWhileClosing) throw appError('shutting_down', {}, { retryAfter: 5 })
  })
  app.addHook('onRequest', async (request) => {
    refuseSecondHost(request.raw)
    // Otherwise the body of a request to an unknown path would be read without authentication.
    if (request.is404 && !['GET', 'HEAD'].includes(request.method)) throw appError('nothing_here')
  })
  registerJsonBodies(app, jsonDepth)
  boundPages(app, pageItems)
  guardSlowBodies(app, BODY_TIMEOUT_MS)
  closeUnfinishedBodies(app)
  dropStalledReaders(app, STALL_MS)
  if (streamSlots !== undefined) limitStreams(app, streamSlots)
  boundLargeResponses(app, spoolFolder)
  if (trustedProxies.length > 0) warnOfUnknownProxies(app, isProxy)
  limitConnections(app.server, connectionsPerAddress, isProxy)
  return app
}
