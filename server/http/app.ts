// Creates the Fastify instance: zod validation and serialization, limits, timeouts and the error handler.
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  LogController,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from 'fastify'
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { appError } from '../errors.ts'
import { inRanges } from '../lib/address-ranges.ts'
import { withoutBase } from '../lib/base-path.ts'
import { newId } from '../lib/ids.ts'
import type { Slots } from '../lib/limits.ts'
import { PAGE_ITEMS, PageQuery, pageLimit } from '../protocol/envelope.ts'
import {
  DEFAULT_JSON_DEPTH,
  registerJsonBodies,
  validateLongLists,
  validatorOfRoutes,
} from './app/json-body.ts'
import {
  answerClientError,
  boundLargeResponses,
  closeUnfinishedBodies,
  dropStalledReaders,
  guardSlowBodies,
  refuseSecondHost,
} from './app/slow-clients.ts'
import { REQUEST_ID_HEADER, registerErrorHandler, sendRawError } from './error-handler.ts'
import { logRequests } from './request-log.ts'

// Says in the log that a proxy is not trusted: everybody behind it counts as one client.

/** Addresses that are named in the log, so that many cannot fill it. */
const MAX_NAMED = 20
const PRIVATE = new Set(['private', 'loopback', 'uniqueLocal', 'linkLocal', 'carrierGradeNat'])

/**
 * Logs each private address once from which `X-Forwarded-For` comes although `isProxy` does not name it. Public ones are
 * left out: any client can send that header.
 */
function warnOfUnknownProxies(
  app: Pick<FastifyInstance, 'addHook' | 'log'>,
  isProxy: (address: string) => boolean,
): void {
  const named = new Set<string>()
  app.addHook('onRequest', async ({ headers, raw }) => {
    if (headers['x-forwarded-for'] === undefined || named.size >= MAX_NAMED) return
    const address = raw.socket.remoteAddress ?? ''
    if (named.has(address) || !ipaddr.isValid(address) || isProxy(address)) return
    if (!PRIVATE.has(ipaddr.process(address).range())) return
    named.add(address)
    app.log.warn(
      { address },
      'a proxy is not in trusted_proxies: all clients behind it count as one address, also for limits of sign-ins',
    )
  })
}

// Limits the open event streams per user: each costs a connection and a listener of a run log.

/**
 * Rejects a request to a `config.stream` route with 429, before the handler starts anything, if the user already has as many
 * streams open as there are slots.
 */
function limitStreams(app: Pick<FastifyInstance, 'addHook'>, slots: Slots): void {
  app.addHook('preHandler', async (request, reply) => {
    if (request.routeOptions.config.stream !== true) return
    const release = await slots.acquire(request.user.id)
    if (release === null)
      throw appError('streams_exhausted', { limit: slots.limit }, { retryAfter: 5 })
    // If the client has already disconnected, no further `close` is emitted and the stream would be counted forever.
    if (reply.raw.destroyed) release()
    else reply.raw.once('close', release)
  })
}

// Sets the maximum page size of all lists from the configuration.

/** Applies to all routes that are registered later, and to the API reference. */
function boundPages(app: Pick<FastifyInstance, 'addHook'>, mostItems: number): void {
  const bounded = pageLimit(mostItems).optional()
  app.addHook('onRoute', ({ schema }) => {
    const query = schema?.querystring
    if (!(query instanceof z.ZodObject) || query.shape.limit !== PageQuery.shape.limit) return
    if (schema !== undefined) schema.querystring = query.extend({ limit: bounded })
  })
}

// Limits the connections per address, so that no single client can exhaust the server's file descriptors.

/** Closes connections beyond `max` from one address immediately. Addresses for which `isProxy` is true are not counted. */
function limitConnections(
  server: Pick<Server, 'on'>,
  max: number,
  isProxy: (address: string) => boolean,
): void {
  const open = new Map<string, number>()
  server.on('connection', (socket) => {
    const address = socket.remoteAddress
    // A connection that has already closed has no address.
    if (address === undefined || isProxy(address)) return
    const count = open.get(address) ?? 0
    if (count >= max) {
      socket.destroy()
      return
    }
    open.set(address, count + 1)
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1
      if (left === 0) open.delete(address)
      else open.set(address, left)
    })
  })
}

// Closing the HTTP server without waiting for connections on which nothing happens.

/** How often such connections are closed while the server closes. */
const CHECK_MS = 50

/**
 * Returns a function to call when the server begins to close. Until it has closed, this closes connections without a request.
 * Node does so only once, and only if a connection has had a request: one whose response ends a moment later would delay the
 * end until its keep-alive time is over, and one that a browser opened in advance until the time for its headers is over.
 */
function createConnectionCloser(server: Server): () => void {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return () => {
    const timer = setInterval(() => {
      server.closeIdleConnections()
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    }, CHECK_MS)
    server.once('close', () => clearInterval(timer))
  }
}

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
  /** The path below which browsers see the server. A reverse proxy may remove it from requests or not. */
  basePath?: string
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
  basePath = '',
}: AppOptions): App {
  const isProxy = trustedProxies.length === 0 ? () => false : inRanges(trustedProxies)
  const app = Fastify({
    trustProxy: trustedProxies.length > 0 ? isProxy : false,
    ...(logger === undefined ? {} : { loggerInstance: logger }),
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'request_id',
    }),
    bodyLimit,
    // Otherwise Fastify loads compilers of its own (decision 0018).
    schemaController: {
      compilersFactory: { buildValidator: neverCompiled, buildSerializer: neverCompiled },
    },
    genReqId: () => newId(),
    rewriteUrl: ({ url = '/' }) => (basePath === '' ? url : withoutBase(url, basePath)),
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
