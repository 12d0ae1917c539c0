// The workspace as configured, for the server and for commands.
import type { Access } from '../access/access.ts'
import type { Instance } from '../cluster/instance.ts'
import type { Config } from '../config/schema.ts'
import { workspaceSettings } from '../config/settings.ts'
import type { Store } from '../db/store.ts'
import { detectBubblewrap } from '../sandbox/bubblewrap.ts'
import { createWorkspaceServices, type WorkspaceServices } from '../workspace/workspace-services.ts'

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
