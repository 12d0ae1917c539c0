// The HTTP side as configured: Fastify with its guards, and the listeners to every request.
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { Registry } from 'prom-client'
import type { Access } from '../../access/access.ts'
import type { Accounts } from '../../auth/accounts.ts'
import type { SecretBox } from '../../auth/secret-box.ts'
import type { TokenKeys } from '../../auth/token-keys.ts'
import type { ChangeLog } from '../../changes/change-log.ts'
import { createWorkerMetrics } from '../../cluster/worker-metrics.ts'
import { LOOPBACK } from '../../config/scalars.ts'
import type { Config } from '../../config/schema.ts'
import type { Store } from '../../db/store.ts'
import { registerAudit } from '../../http/audit.ts'
import type { AuthenticationOptions } from '../../http/authentication.ts'
import { registerChangeNotices } from '../../http/change-notices.ts'
import { compressJson } from '../../http/compression.ts'
import { registerErrorRedaction } from '../../http/error-redaction.ts'
import { registerIdempotency } from '../../http/idempotency.ts'
import type { OriginRules } from '../../http/origin-guard.ts'
import { createHttpStack, type HttpOptions } from '../../http/stack.ts'
import type { Limits } from '../../lib/limits.ts'
import type { Redactor } from '../../lib/redact.ts'
import type { AccountServices } from '../accounts/accounts.ts'
import { createIdempotencyKeys } from './idempotency.ts'

/** What the HTTP stack is built from. */
export interface ConfiguredStackOptions {
  config: Config
  store: Pick<Store, 'idempotency'>
  accounts: AccountServices
  access: Pick<Access, 'quota'>
  /** Seals stored responses. Must not register what it seals as secrets of the log. */
  bodyBox: SecretBox
  /** The id of this process. */
  instance: string
  /** Receives the changes that each request makes. */
  changes: Pick<ChangeLog, 'publish'>
  redact: Redactor['redact']
  webRoot: string
  version: string
  metrics: Registry
  limits: Limits
  log: FastifyBaseLogger
  now(): Date
}

/** Creates the app without routes. Call `finish` after registering the routes: it adds the page. */
export async function createConfiguredStack({
  config,
  store,
  accounts,
  access,
  bodyBox,
  instance,
  changes,
  redact,
  webRoot,
  version,
  metrics,
  limits,
  log,
  now,
}: ConfiguredStackOptions): ReturnType<typeof createHttpStack> {
  const stack = await createHttpStack({
    connections: accounts.connections,
    bounds: httpBounds(config),
    logger: log,
    webRoot,
    version,
    trustedProxies: trustedProxies(config),
    origins: originRules(config),
    authentication: await authenticationOptions(config, accounts),
    metrics,
    sharedMetrics: createWorkerMetrics(),
    limits,
    requestsPerMinute: (userId) => access.quota(userId).requests_per_minute,
  })
  registerErrorRedaction(stack.app, redact)
  registerIdempotency(stack.app, createIdempotencyKeys({ store, box: bodyBox, instance, now }))
  registerAudit(stack.app, accounts.record)
  registerChangeNotices(stack.app, changes.publish)
  compressJson(stack.app)
  return stack
}

async function authenticationOptions(
  config: Config,
  { accounts, tokenKeys }: { accounts: Accounts; tokenKeys: TokenKeys | null },
): Promise<AuthenticationOptions> {
  if (config.auth_mode === 'single' || tokenKeys === null)
    return { mode: 'single', defaultUser: await accounts.defaultUser() }
  return {
    mode: 'multi',
    keys: tokenKeys,
    credentials: accounts,
    reference: { isPublic: config.public_reference, allow: config.metrics_allow },
  }
}

const originRules = (config: Config): OriginRules => ({
  mode: config.auth_mode,
  trustedHosts: config.trusted_hosts,
  listenHost: config.host,
  frontendPort: config.frontend_port,
  ...(config.public_url === undefined ? {} : { publicUrl: config.public_url }),
  ...(config.cors_origins === undefined ? {} : { corsOrigins: config.cors_origins }),
})

/** The proxies whose word on a client's address counts. Without `public_url` there is none, unless one is named. */
const trustedProxies = (config: Config): readonly string[] =>
  config.trusted_proxies ?? (config.public_url === undefined ? [] : LOOPBACK)

/** Limits of requests and connections. */
const httpBounds = (config: Config): HttpOptions['bounds'] => ({
  bodyLimit: config.limits.json_body,
  jsonDepth: config.limits.json_depth,
  pageItems: config.limits.page_items,
  streamsPerUser: config.limits.streams_per_user,
  connectionsPerAddress: config.limits.connections_per_address,
  refusesWhileClosing: config.redis_url === undefined,
  // A response that is not streamed starts when the run has ended.
  silentConnectionMs: (config.limits.run_minutes + 1) * 60_000,
  spoolFolder: join(config.data_dir, 'responses'),
})
