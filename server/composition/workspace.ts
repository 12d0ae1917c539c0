// Projects as configured: the workspace, with the skills and the apps in it.

import { existsSync } from 'node:fs'
import type { Access } from '../access/access.ts'
import { createApps } from '../apps/apps.ts'
import { createComponents } from '../apps/components.ts'
import { createFrozenApps, type FrozenApps } from '../apps/frozen-apps.ts'
import { createAppLibraries } from '../apps/libraries.ts'
import { createMcpApps } from '../apps/mcp-apps.ts'
import { createAppsOrigin } from '../apps/origin.ts'
import type { Instance } from '../cluster/instance.ts'
import { ConfigError } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { workspaceSettings } from '../config/settings.ts'
import type { Store } from '../db/store.ts'
import type { UserId } from '../protocol/ids.ts'
import { detectBubblewrap } from '../sandbox/bubblewrap.ts'
import type { Services } from '../services.ts'
import { builtInSkills } from '../skills/built-in.ts'
import { createConsents } from '../skills/consents.ts'
import { createSkills } from '../skills/skills.ts'
import { createWorkspaceServices, type WorkspaceServices } from '../workspace/workspace-services.ts'
import type { Base } from './base.ts'

/** Prepares the workspace root. @throws when it cannot be used. */
export const createConfiguredWorkspace = async ({
  config,
  store,
  access,
  instance,
  log,
}: {
  config: Config
  store: Pick<Store, 'checkpoints' | 'outsideContents' | 'projects' | 'storage'>
  access: Pick<Access, 'storageLimit'>
  /** Absent in commands. */
  instance?: Pick<Instance, 'claims' | 'limits'>
  log: { warn(details: object, message: string): void }
}): Promise<WorkspaceServices> =>
  createWorkspaceServices({
    ...workspaceSettings(config),
    records: store.checkpoints,
    projects: store.projects,
    outsideContents: store.outsideContents,
    storage: { records: store.storage, limit: access.storageLimit },
    bubblewrap: await detectBubblewrap(),
    claims: instance?.claims,
    counts: instance?.limits,
    log,
  })

/** The skills of users, projects and the server, and the consent to those of projects. @throws ConfigError without `skills_dir`. */
export function createConfiguredSkills(
  { config, store, access, now }: Pick<Base, 'config' | 'store' | 'access' | 'now'>,
  { workspaces, makeDiff }: Pick<WorkspaceServices, 'workspaces' | 'makeDiff'>,
) {
  if (config.skills_dir !== undefined && !existsSync(config.skills_dir))
    throw new ConfigError([`skills_dir: the folder ${config.skills_dir} does not exist`])
  const skills = createSkills({
    store,
    workspaces,
    serverFolders: [
      ...(config.skills_dir === undefined ? [] : [config.skills_dir]),
      builtInSkills(),
    ],
    access,
  })
  return { skills, consents: createConsents({ store, workspaces, skills, makeDiff, now }) }
}

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
