// Creates the workspace and describes projects for prompts.
import type { Access } from '../../access/access.ts'
import type { Config } from '../../config/schema.ts'
import { type ProjectRepository, settingsOf } from '../../db/repositories/projects/projects.ts'
import type { Store } from '../../db/store.ts'
import { PROJECT_NOTE } from '../../llm/project-note.ts'
import type { ProjectId, UserId } from '../../protocol/ids.ts'
import type { ProjectDescription } from '../../runs/dependencies.ts'
import { detectBubblewrap } from '../../sandbox/bubblewrap.ts'
import {
  createWorkspaceServices,
  type WorkspaceServices,
} from '../../workspace/workspace-services.ts'
import type { Instance } from '../instance.ts'
import { workspaceSettings } from '../settings.ts'

/** Prepares the workspace root. @throws when it cannot be used. */
export const createConfiguredWorkspace = async (
  config: Config,
  {
    checkpoints: records,
    outsideContents,
    storage,
  }: Pick<Store, 'checkpoints' | 'outsideContents' | 'storage'>,
  access: Pick<Access, 'quota'>,
  instance: Pick<Instance, 'claims' | 'limits'> | undefined,
  log: { warn(details: object, message: string): void },
): Promise<WorkspaceServices> =>
  createWorkspaceServices({
    ...workspaceSettings(config),
    records,
    outsideContents,
    storage: {
      records: storage,
      limit: (userId) => access.quota(userId).storage ?? config.limits.storage,
    },
    bubblewrap: await detectBubblewrap(),
    claims: instance?.claims,
    counts: instance?.limits,
    log,
  })

/** Maximum number of entries of the top folder in the prompt. */
const MAX_LISTED = 50
/** Entries of the top folder that are checked for the listing. */
const MAX_CHECKED = 200

/** The description of a conversation's project in the prompt; null when the project has been deleted. */
export const createProjectDescription =
  (
    projects: Pick<ProjectRepository, 'find'>,
    { workspaces, checkpoints }: Pick<WorkspaceServices, 'workspaces' | 'checkpoints'>,
  ) =>
  async (userId: UserId, projectId: ProjectId): Promise<ProjectDescription | null> => {
    const project = await projects.find(userId, projectId)
    if (project === undefined) return null
    // The description is useful without the listing; tools report problems with the folder.
    const workspace = workspaces.open(userId, projectId)
    const entries = await workspace.list('').catch(() => [])
    // Names that may come from outside are omitted: they would taint every conversation of the project.
    const checked = entries.slice(0, MAX_CHECKED)
    const hidden = await checkpoints.outsideText.namesIn(
      workspace,
      checked.map(({ name }) => name),
    )
    const names = checked
      .filter(({ name }) => !hidden.has(name))
      .slice(0, MAX_LISTED)
      .map(({ name, kind }) => JSON.stringify(kind === 'directory' ? `${name}/` : name))
    const rest = entries.length - names.length
    const about = [
      `The user's project is named ${JSON.stringify(project.name)}.`,
      ...(project.description === null
        ? []
        : [`Description: ${JSON.stringify(project.description)}.`]),
      PROJECT_NOTE,
    ].join(' ')
    const {
      instructions,
      disabled_tools: disabledTools,
      uses_memory: usesMemory,
    } = settingsOf(project)
    const listing =
      entries.length === 0
        ? 'The project has no files yet.'
        : `Top-level entries of the project: ${[...names, ...(rest > 0 ? [`${rest} more (see file_list)`] : [])].join(', ')}.`
    return {
      about:
        instructions === ''
          ? about
          : `${about}\n\nThe user's instructions for this project:\n${instructions}`,
      listing,
      disabledTools,
      usesMemory,
    }
  }
