// The workspace as configured.
import { existsSync } from 'node:fs'
import type { Access } from '../access/access.ts'
import { ConfigError } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import type { Store } from '../db/store.ts'
import { createReceipts } from '../receipts/receipts.ts'
import { detectBubblewrap } from '../sandbox/bubblewrap.ts'
import { builtInSkills, MAKE_APP } from '../skills/built-in.ts'
import { createConsents } from '../skills/consents.ts'
import { createSkills } from '../skills/skills.ts'
import { countLines } from '../workspace/checkpoints/diff/count-lines.ts'
import { createWorkspaceServices, type WorkspaceServices } from '../workspace/workspace-services.ts'
import type { Base } from './base.ts'
import type { Instance } from './instance.ts'
import { storageLimit, workspaceSettings } from './settings.ts'

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
  access: Pick<Access, 'quota'>
  /** Absent in commands. */
  instance?: Pick<Instance, 'claims' | 'limits'>
  log: { warn(details: object, message: string): void }
}): Promise<WorkspaceServices> =>
  createWorkspaceServices({
    ...workspaceSettings(config),
    records: store.checkpoints,
    projects: store.projects,
    outsideContents: store.outsideContents,
    storage: { records: store.storage, limit: storageLimit(config, access) },
    bubblewrap: await detectBubblewrap(),
    claims: instance?.claims,
    counts: instance?.limits,
    log,
  })

/** The receipts of answers, which count the lines of changed files of the workspace. */
export const createConfiguredReceipts = (
  { ledger, projects }: Pick<Store, 'ledger' | 'projects'>,
  {
    workspaces,
    checkpoints,
    makeDiff,
  }: Pick<WorkspaceServices, 'workspaces' | 'checkpoints' | 'makeDiff'>,
) =>
  createReceipts({
    ledger,
    countLines: async ({ userId, projectId }, files) =>
      countLines(files, {
        // Also for a run of somebody who is no member any more.
        workspace: workspaces.open((await projects.ownerOf(projectId)) ?? userId, projectId),
        contents: checkpoints.contentStore(projectId),
        makeDiff,
      }),
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
    isOffered: (userId, name) => name !== MAKE_APP || access.allowsFeature(userId, 'apps'),
  })
  return { skills, consents: createConsents({ store, workspaces, skills, makeDiff, now }) }
}
