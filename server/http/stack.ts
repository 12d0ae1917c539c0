// Assembles everything around the routes, in the order in which it processes a request.
import type { FastifyBaseLogger } from 'fastify'
import type { Registry } from 'prom-client'
import type { Limits } from '../lib/limits.ts'
import type { UserId } from '../protocol/ids.ts'
import { type App, type AppOptions, createApp } from './app.ts'
import {
  type AuthenticationOptions,
  type IssueToken,
  registerAuthentication,
} from './authentication.ts'
import { registerMetrics, type SharedMetrics } from './metrics.ts'
import type { OpenConnections } from './open-connections.ts'
import { type OriginRules, registerOriginGuard } from './origin-guard.ts'
import { registerReference } from './reference.ts'
import { limitRequests } from './request-limit.ts'
import { registerSecurityHeaders } from './security-headers.ts'
import { registerWebApp } from './web-app.ts'

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
  /** Requests per minute that a user may send; null for no limit. */
  requestsPerMinute?(userId: UserId): number | null
  limits: Limits
  /** Addresses and CIDR ranges of the reverse proxies that may say what a client's address is. */
  trustedProxies: readonly string[]
}

/** Creates the app without routes. Call `finish` after registering the routes: it adds the page. */
export async function createHttpStack(
  options: HttpOptions,
): Promise<{ app: App; issueToken: IssueToken; finish(): Promise<void> }> {
  const { bounds, logger, trustedProxies, origins, limits } = options
  const { streamsPerUser, ...appBounds } = bounds
  const streamSlots = limits.slots('streams', streamsPerUser)
  const app = createApp({
    ...appBounds,
    streamSlots,
    trustedProxies,
    ...(logger === undefined ? {} : { logger }),
  })
  registerSecurityHeaders(app, { https: origins.publicUrl?.startsWith('https:') === true })
  await registerOriginGuard(app, origins)
  const issueToken = await registerAuthentication(app, options.authentication, options.connections)
  if (options.requestsPerMinute !== undefined) limitRequests(app, limits, options.requestsPerMinute)
  registerMetrics(app, options.version, options.metrics, options.sharedMetrics)
  await registerReference(app, options.version)
  const hasAccounts = options.authentication.mode === 'multi'
  return { app, issueToken, finish: () => registerWebApp(app, options.webRoot, hasAccounts) }
}
