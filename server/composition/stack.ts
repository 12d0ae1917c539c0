// The HTTP side as configured: Fastify with its guards, and the listeners to every request.
import type { Registry } from 'prom-client'
import { createIdempotencyKeys } from '../auth/sealed-responses.ts'
import type { TokenKeys } from '../auth/token-keys.ts'
import { createWorkerMetrics } from '../cluster/worker-metrics.ts'
import { httpBounds, originRules, trustedProxies } from '../config/settings.ts'
import { authenticationOptions } from '../http/authentication.ts'
import { announceChanges, registerChangeNotices } from '../http/change-notices.ts'
import { compressJson } from '../http/compression.ts'
import { registerIdempotency } from '../http/idempotency.ts'
import {
  closeWhileDraining,
  createHttpStack,
  type FullDisk,
  refuseWritesOnFullDisk,
  registerErrorRedaction,
} from '../http/stack.ts'
import type { Services } from '../services.ts'
import type { Base } from './base.ts'

/** Creates the app without routes. Call `finish` after registering the routes: it adds the page. */
export async function createConfiguredStack(
  { config, store, access, bodyBox, instance, redact, limits, log, now }: Base,
  {
    accounts,
    connections,
    changes,
    chat,
    version,
    appsOrigin,
  }: Pick<Services, 'accounts' | 'connections' | 'changes' | 'chat' | 'version' | 'appsOrigin'>,
  {
    tokenKeys,
    metrics,
    webRoot,
    disk,
  }: {
    tokenKeys: TokenKeys | null
    metrics: Registry
    /** Folder of the built page. */
    webRoot: string
    disk: FullDisk | undefined
  },
): ReturnType<typeof createHttpStack> {
  const stack = await createHttpStack({
    connections,
    bounds: httpBounds(config),
    logger: log,
    webRoot,
    version,
    trustedProxies: trustedProxies(config),
    origins: { ...originRules(config), appsOrigin: (request) => appsOrigin.of(request) },
    authentication: await authenticationOptions({
      accounts,
      tokenKeys,
      reference: { isPublic: config.public_reference, allow: config.metrics_allow },
    }),
    metrics,
    sharedMetrics: createWorkerMetrics(),
    limits,
    access,
  })
  const { app } = stack
  registerErrorRedaction(app, redact)
  registerIdempotency(
    app,
    createIdempotencyKeys({ store, box: bodyBox, instance: instance.id, now }),
  )
  registerChangeNotices(app, changes.publish)
  compressJson(app)
  closeWhileDraining(app, chat.runs)
  if (disk !== undefined) refuseWritesOnFullDisk(app, disk)
  announceChanges(app, instance)
  return stack
}
