// Assembles everything around the routes, in the order in which it processes a request.
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Registry } from 'prom-client'
import { appError } from '../errors.ts'
import { basePathOf } from '../lib/base-path.ts'
import type { Limits } from '../lib/limits.ts'
import type { UserId } from '../protocol/ids.ts'
import { type App, type AppOptions, createApp } from './app.ts'
import { type AuthenticationOptions, registerAuthentication } from './authentication.ts'
import type { OpenConnections } from './open-connections.ts'
import { type OriginRules, registerOriginGuard } from './origin-guard.ts'
import { registerMetrics, type SharedMetrics } from './stack/metrics.ts'
import { registerReference } from './stack/reference.ts'
import { registerSecurityHeaders } from './stack/security-headers.ts'
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
