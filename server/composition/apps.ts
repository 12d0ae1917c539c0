// Apps as configured, and the second HTTP server on which their files are.
import { createApps } from '../apps/apps.ts'
import { createComponents } from '../apps/components.ts'
import { createFrozenApps, type FrozenApps } from '../apps/frozen-apps.ts'
import { createAppLibraries } from '../apps/libraries.ts'
import { createMcpApps } from '../apps/mcp-apps.ts'
import { createAppsOrigin } from '../apps/origin.ts'
import { createApp } from '../http/app.ts'
import type { UserId } from '../protocol/ids.ts'
import { registerAppFiles } from '../routes/apps/app-files.ts'
import type { Services } from '../services.ts'
import type { Base } from './base.ts'
import { trustedProxies } from './settings.ts'

/** What people do with apps, and where these are served. */
export function createConfiguredApps(
  { config, database, store, access, now }: Base,
  { workspaces, checkpoints, pool }: Services['workspace'],
  blobs: Services['blobs'],
  webRoot: string,
): Pick<Services, 'apps' | 'mcpApps' | 'appsOrigin' | 'appComponents' | 'appLibraries'> & {
  frozenApps: FrozenApps
} {
  const { enabled, url } = config.apps
  const isAllowed = (userId: UserId): boolean => enabled && access.allowsFeature(userId, 'apps')
  const appLibraries = createAppLibraries(webRoot)
  return {
    frozenApps: createFrozenApps({ store, workspaces, blobs, isAllowed }),
    appLibraries,
    appComponents: createComponents({ pool, libraries: appLibraries }),
    apps: createApps({
      database,
      store,
      workspaces,
      checkpoints,
      now,
      isAllowed,
    }),
    mcpApps: createMcpApps({ database, store, now }),
    appsOrigin: createAppsOrigin({
      url,
      publicUrl: config.public_url,
      pagePort: config.backend_port,
    }),
  }
}

/** The server of the files of apps, on a port of its own. */
export interface AppsServer {
  /** Opens the port; apps have an address from then on. */
  listen(at: { host: string; port: number; backlog?: number }): Promise<void>
  close(): Promise<void>
}

/** Null if apps are off, or have no port. */
export function createAppsServer(
  { config, log }: Base,
  services: Pick<Services, 'appsOrigin'> & Parameters<typeof registerAppFiles>[1],
): AppsServer | null {
  if (!config.apps.enabled || config.apps.port === 0) return null
  const app = createApp({
    logger: log,
    bodyLimit: 1,
    connectionsPerAddress: config.limits.connections_per_address,
    trustedProxies: trustedProxies(config),
    refusesWhileClosing: false,
  })
  registerAppFiles(app, services)
  return {
    async listen(at) {
      await app.listen(at)
      const [address] = app.addresses()
      services.appsOrigin.port = typeof address === 'object' ? address.port : null
    },
    close: () => app.close(),
  }
}
