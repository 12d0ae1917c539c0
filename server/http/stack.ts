// Assembles everything around the routes, in the order in which it processes a request: security headers, origins, authentication, limits,
// metrics, the reference and the page.
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { appError } from '../errors.ts'
import { basePathOf } from '../lib/base-path.ts'
import type { Limits } from '../lib/limits.ts'
import type { UserId } from '../protocol/ids.ts'
import { type App, type AppOptions, createApp } from './app.ts'
import { type AuthenticationOptions, registerAuthentication } from './authentication.ts'
import type { OpenConnections } from './open-connections.ts'
import { type OriginRules, registerOriginGuard } from './origin-guard.ts'
import { registerReference } from './stack/reference.ts'
import { registerWebApp } from './stack/web-app.ts'

// Limits how many requests each signed-in user may send per minute.

const MINUTE_MS = 60_000

/** How many requests per minute a user may send; null for no limit. */
export interface RequestLimits {
  quota(userId: UserId): { requests_per_minute: number | null }
}

/** Call it after registering authentication. */
function limitRequests(app: App, limits: Limits, access: RequestLimits): void {
  const allowance = limits.rateLimit('requests', { limit: 0, windowMs: MINUTE_MS })
  app.addHook('onRequest', async (request) => {
    // Not set on public routes, whatever its type says.
    const user: typeof request.user | null | undefined = request.user
    if (user == null || request.routeOptions.config.public === true) return
    const limit = access.quota(user.id).requests_per_minute
    if (limit === null) return
    const seconds = await allowance.acquire(user.id, 1, limit)
    if (seconds !== null)
      throw appError('requests_exhausted', { limit, seconds }, { retryAfter: seconds })
  })
}

/** The options of the HTTP stack. */
export interface HttpOptions {
  bounds: Pick<
    AppOptions,
    | 'bodyLimit'
    | 'jsonDepth'
    | 'pageItems'
    | 'connectionsPerAddress'
    | 'silentConnectionMs'
    | 'spoolFolder'
    | 'refusesWhileClosing'
  > & {
    /** Maximum number of open event streams per user. */
    streamsPerUser: number
  }
  logger?: FastifyBaseLogger
  origins: OriginRules
  authentication: AuthenticationOptions
  /** Metrics in addition to those of HTTP and the process. */
  metrics?: Registry
  /** The metrics of other processes behind the same port. */
  sharedMetrics?: SharedMetrics | null
  /** Folder of the built page. */
  webRoot: string
  version: string
  /** Tracks the open responses of each user. */
  connections: OpenConnections
  access: RequestLimits
  limits: Limits
  /** Addresses and CIDR ranges of the reverse proxies that may say what a client's address is. */
  trustedProxies: readonly string[]
}

/** Creates the app without routes. Call `finish` after registering the routes: it adds the page. */
export async function createHttpStack(
  options: HttpOptions,
): Promise<{ app: App; finish(): Promise<void> }> {
  const { bounds, logger, trustedProxies, origins, limits } = options
  const { streamsPerUser, ...appBounds } = bounds
  const streamSlots = limits.slots('streams', streamsPerUser)
  const basePath = basePathOf(origins.publicUrl)
  const app = createApp({
    ...appBounds,
    basePath,
    streamSlots,
    trustedProxies,
    ...(logger === undefined ? {} : { logger }),
  })
  registerSecurityHeaders(app, {
    https: origins.publicUrl?.startsWith('https:') === true,
    frameOrigin: origins.appsOrigin,
  })
  await registerOriginGuard(app, origins)
  await registerAuthentication(app, options.authentication, options.connections)
  limitRequests(app, limits, options.access)
  registerMetrics(app, options.version, options.metrics, options.sharedMetrics)
  await registerReference(app, options.version, basePath)
  const hasAccounts = options.authentication.mode === 'multi'
  return { app, finish: () => registerWebApp(app, options.webRoot, { hasAccounts, basePath }) }
}

/** Clients of a process that drains come back through another connection, behind which another instance may be. */
export function closeWhileDraining(app: App, runs: { readonly isDraining: boolean }): void {
  app.addHook('onRequest', async (_request, reply) => {
    if (runs.isDraining) void reply.header('connection', 'close')
  })
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A POST that deletes or lets somebody sign in, so that it is permitted while the disk is full. */
    whileDiskFull?: boolean
  }
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** The disk of the data folder. */
export interface FullDisk {
  /** Whether it is full, so that only what deletes something may write. */
  isUsed(): Promise<boolean>
  /** Called before something is deleted, which needs some space itself. */
  makeRoom(): Promise<void>
}

/** Call it before the routes are registered. */
export function refuseWritesOnFullDisk(
  app: Pick<FastifyInstance, 'addHook'>,
  disk: FullDisk,
): void {
  app.addHook('onRequest', async ({ method, routeOptions }) => {
    if (READS.has(method)) return
    if (method === 'DELETE' || routeOptions.config.whileDiskFull === true) return disk.makeRoom()
    if (await disk.isUsed()) throw appError('store_full', {}, { retryAfter: 60 })
  })
}

/** Applies to every response with a status of 400 or more. */
export function registerErrorRedaction(app: App, redact: (text: string) => string): void {
  app.addHook('onSend', async (_request, reply, payload) =>
    reply.statusCode >= 400 && typeof payload === 'string' ? redact(payload) : payload,
  )
}

// Prometheus metrics: the process, and the duration of requests by route.

/**
 * The metrics of the process: memory, event loop, garbage collection. All servers of a process share them, because what
 * collects them runs until the process ends and would keep each server in memory. It begins when they are first read: the delay
 * of the event loop is measured a hundred times a second, which would keep an idle machine awake.
 */
let processRegistry: Registry | undefined

function collectProcessMetrics(): Registry {
  if (processRegistry === undefined) {
    processRegistry = new Registry()
    collectDefaultMetrics({ register: processRegistry })
  }
  return processRegistry
}

/** Other processes behind the same port, whose metrics are served together with those of this one. */
interface SharedMetrics {
  /** The value of the label `worker` of this process. */
  worker: string
  answer(own: () => Promise<string>): void
  collect(): Promise<string>
}

/**
 * Registers `GET /metrics` and the hooks that feed it.
 * @param registry further metrics to serve.
 * @param shared null if no other process listens on the same port.
 */
export function registerMetrics(
  app: App,
  version: string,
  registry: Registry = new Registry(),
  shared: SharedMetrics | null = null,
): void {
  const duration = new Histogram({
    name: 'nanoclaw_http_request_seconds',
    help: 'Time from the request to the end of the response, by route.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600],
    registers: [registry],
  })
  new Gauge({
    name: 'nanoclaw_build_info',
    help: 'Always 1; the label is the version of the server.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version }, 1)
  app.addHook('onResponse', async (request, reply) => {
    duration.observe(
      {
        method: request.method,
        // The pattern of the route, not the path: the number of labels must be bounded.
        route: request.routeOptions.url ?? 'unknown',
        status: String(reply.statusCode),
      },
      reply.elapsedTime / 1000,
    )
  })
  const own = async (): Promise<string> => {
    const registries = [collectProcessMetrics(), registry]
    // Without a label of their own, the counters of processes that are asked in turn would seem to jump back and forth.
    if (shared !== null)
      for (const one of registries) one.setDefaultLabels({ worker: shared.worker })
    return (await Promise.all(registries.map((one) => one.metrics()))).join('\n')
  }
  shared?.answer(own)
  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) =>
    reply.type(registry.contentType).send(await (shared === null ? own() : shared.collect())),
  )
}

// Security headers: the content security policy of the page, few headers for its files, and no caching of API responses.

/**
 * Scripts, styles and fonts of the page that never become a document. Workers are not among them: they have the policy of
 * their own file, so the build puts them into a folder of their own (`web/vite.config.ts`).
 */
const SUBRESOURCE = /^\/assets\/(?!workers\/)[\w./-]+\.(m?js|css|woff2?|ttf)$/

const API = /^\/(api|v1|mcp|s|a|healthz|readyz|metrics|openapi\.json)(\/|\?|$)/

/** Device features that the page and its frames may use. */
const PERMISSIONS = [
  ...['microphone', 'publickey-credentials-create', 'publickey-credentials-get'].map(
    (name) => `${name}=(self)`,
  ),
  ...['accelerometer', 'camera', 'display-capture', 'geolocation', 'gyroscope', 'hid'],
  ...['magnetometer', 'midi', 'payment', 'serial', 'usb', 'xr-spatial-tracking'],
]
  .map((entry) => (entry.includes('=') ? entry : `${entry}=()`))
  .join(', ')

/**
 * The page may load nothing from other hosts, and no inline scripts or styles. The build prevents libraries from adding
 * `<style>`.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "img-src 'self' data: blob:",
  "style-src 'self'",
  // Texts that a service reads aloud are played from memory.
  "media-src 'self' blob:",
  // Our own frame draws diagrams. The browser's viewer shows PDF files from memory. The origin of apps comes behind.
  "frame-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "form-action 'self'",
].join(';')

/** What applies to every response, also to one that another document embeds. */
const SUBRESOURCE_HEADERS = {
  'cross-origin-resource-policy': 'same-origin',
  // A stylesheet requests fonts, and a script others, with the policy of its own response.
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** OWASP's recommendations (https://owasp.org/www-project-secure-headers/), for every other response. */
const HEADERS = {
  ...SUBRESOURCE_HEADERS,
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'origin-agent-cluster': '?1',
  'permissions-policy': PERMISSIONS,
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-frame-options': 'DENY',
  'x-permitted-cross-domain-policies': 'none',
  // The filters of old browsers could be abused.
  'x-xss-protection': '0',
}

/** Browsers ignore these over plain HTTP, the second one with a warning in the console of every page. */
const TRANSPORT_SECURITY = { 'strict-transport-security': 'max-age=31536000' }
const OPENER_POLICY = { 'cross-origin-opener-policy': 'same-origin' }

/**
 * @param options.https the page is served over TLS; enables HSTS.
 * @param options.frameOrigin the origin of apps, which the page may frame; null for none.
 */
function registerSecurityHeaders(
  app: App,
  { https, frameOrigin }: { https: boolean; frameOrigin(request: FastifyRequest): string | null },
): void {
  const headers = https ? { ...HEADERS, ...TRANSPORT_SECURITY, ...OPENER_POLICY } : HEADERS
  const ofApi = { ...headers, 'cache-control': 'no-store' }
  const ofSubresource = https
    ? { ...SUBRESOURCE_HEADERS, ...TRANSPORT_SECURITY }
    : SUBRESOURCE_HEADERS
  const headersFor = (request: FastifyRequest) => {
    const { url } = request
    if (SUBRESOURCE.test(url)) return ofSubresource
    if (API.test(url)) return ofApi
    const frames = frameOrigin(request)
    if (frames === null) return headers
    // No wider: a frame can navigate only to what the page may frame, so an app cannot leave its origin.
    const policy = CONTENT_SECURITY_POLICY.replace("frame-src 'self' blob:", `$& ${frames}`)
    return { ...headers, 'content-security-policy': policy }
  }
  app.addHook('onRequest', (request, reply, next) => {
    void reply.headers(headersFor(request))
    next()
  })
}
