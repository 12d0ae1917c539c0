// Projects' folders and what works on them.
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config/schema.ts'
import type { ProjectRepository } from '../db/repositories/projects.ts'
import type { Store } from '../db/store.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import type { ProjectDescription } from '../runs/dependencies.ts'
import { type BubblewrapState, detectBubblewrap } from '../sandbox/bubblewrap.ts'
import { createProjectFileReader, type ReadProjectFiles } from '../tools/project-files.ts'
import { createWorkspaceServices, type WorkspaceServices } from '../workspace/workspace-services.ts'

export interface WorkspaceModule extends WorkspaceServices {
  /** The files that a program asks for, within its limits. */
  readFiles: ReadProjectFiles
  /** Whether programs can be isolated by the kernel here. */
  bubblewrap: BubblewrapState
}

/** Prepares the workspace root. Throws when it cannot be used. */
export async function createWorkspaceModule(
  { workspace_root: root, limits, checkpoints }: Config,
  {
    checkpoints: records,
    outsideContents,
    storage,
  }: Pick<Store, 'checkpoints' | 'outsideContents' | 'storage'>,
  log: FastifyBaseLogger,
): Promise<WorkspaceModule> {
  const bubblewrap = await detectBubblewrap()
  const services = await createWorkspaceServices({
    root,
    limits: { fileRead: limits.file_read, fileWrite: limits.file_write, project: limits.project },
    rule: {
      keep: checkpoints.keep,
      maxAgeDays: checkpoints.max_age_days,
      maxBytes: checkpoints.max_size,
    },
    records,
    outsideContents,
    storage: { records: storage, limit: limits.storage },
    bubblewrap,
    log,
  })
  return {
    ...services,
    bubblewrap,
    readFiles: createProjectFileReader(services),
  }
}

/** Entries of the top folder that the model sees. */
const TOLD_ENTRIES = 50
/** Entries among which those are looked for. */
const LOOKED_AT = 200

/** What a prompt says of a conversation's project; null when it is gone. */
export const createProjectDescription =
  (
    projects: Pick<ProjectRepository, 'find'>,
    { workspaces, checkpoints }: Pick<WorkspaceServices, 'workspaces' | 'checkpoints'>,
  ) =>
  async (userId: UserId, projectId: ProjectId): Promise<ProjectDescription | null> => {
    const project = await projects.find(userId, projectId)
    if (project === undefined) return null
    // Without its listing the description still helps; the tools say what is wrong with the folder.
    const workspace = workspaces.open(userId, projectId)
    const entries = await workspace.list('').catch(() => [])
    // Shown to every conversation of the project: what text from outside may have written would taint them all.
    const looked = entries.slice(0, LOOKED_AT)
    const hidden = await checkpoints.outsideText.namesIn(
      workspace,
      looked.map(({ name }) => name),
    )
    const names = looked
      .filter(({ name }) => !hidden.has(name))
      .slice(0, TOLD_ENTRIES)
      .map(({ name, kind }) => JSON.stringify(kind === 'directory' ? `${name}/` : name))
    const rest = entries.length - names.length
    const about = [
      `The user's project is named ${JSON.stringify(project.name)}.`,
      ...(project.description === null
        ? []
        : [`About it: ${JSON.stringify(project.description)}.`]),
      'The file tools work in it; paths are relative to its top folder.',
    ].join(' ')
    const listing =
      entries.length === 0
        ? 'The project has no files yet.'
        : `At the top of the project: ${[...names, ...(rest > 0 ? [`${rest} more (see file_list)`] : [])].join(', ')}.`
    return { about, listing }
  }
