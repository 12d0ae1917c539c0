// Apps as configured.
import { createApps } from '../apps/apps.ts'
import { createComponents } from '../apps/components.ts'
import { createFrozenApps, type FrozenApps } from '../apps/frozen-apps.ts'
import { createAppLibraries } from '../apps/libraries.ts'
import { createMcpApps } from '../apps/mcp-apps.ts'
import { createAppsOrigin } from '../apps/origin.ts'
import type { UserId } from '../protocol/ids.ts'
import type { Services } from '../services.ts'
import type { Base } from './base.ts'

/** What people do with apps, and where these are served. */
export function createConfiguredApps(
  { config, database, store, access, now }: Base,
  { workspaces, checkpoints, pool }: Services['workspace'],
  blobs: Services['blobs'],
  webRoot: string,
): Pick<Services, 'apps' | 'mcpApps' | 'appsOrigin' | 'appComponents' | 'appLibraries'> & {
  frozenApps: FrozenApps
} {
  const isAllowed = (userId: UserId): boolean => access.allowsFeature(userId, 'apps')
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
      url: config.apps.url,
      publicUrl: config.public_url,
      pagePort: config.backend_port,
    }),
  }
}
