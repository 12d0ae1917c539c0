// What all file tools share: opening the project's folder, and tracking which version of a file a run has seen.
import { LRUCache } from 'lru-cache'
import { AppError } from '../../../errors.ts'
import { atMost } from '../../../lib/lru-limit.ts'
import { ProjectId, type RunId } from '../../../protocol/ids.ts'
import type { ChangeOrigin } from '../../../workspace/checkpoints/record-change.ts'
import { parsePath } from '../../../workspace/files/paths.ts'
import { openProject } from '../../../workspace/open-project.ts'
import type { Workspace } from '../../../workspace/workspace.ts'
import type { WorkspaceServices } from '../../../workspace/workspace-services.ts'
import type { ToolContext } from '../../definition.ts'

/** Dependencies of file tools: the workspace, and the file versions that runs have seen. */
export interface FileToolDependencies {
  services: WorkspaceServices
  seen: SeenFiles
}

/** What opening a folder needs. */
type OpenServices = Pick<WorkspaceServices, 'workspaces' | 'records' | 'projects'>

/**
 * Opens the folder with the conversation's files, for a call that needs some to be there. @throws AppError `no_project` if the
 * conversation has none, or `not_found` if the project was deleted.
 */
export async function requireWorkspace(
  services: OpenServices,
  context: ToolContext,
): Promise<Workspace> {
  const projectId = await projectOf(context)
  if (projectId !== null) return openFor(services, context, projectId)
  throw context.ownFiles === undefined ? noProject() : noFilesYet()
}

/** Opens the folder for a call that may create files: a conversation without a project gets files of its own. */
export const workspaceForChange = async (
  services: OpenServices,
  context: ToolContext,
): Promise<Workspace> =>
  context.projectId === null && context.ownFiles !== undefined
    ? openFor(services, context, await context.ownFiles.forChange())
    : requireWorkspace(services, context)

/** The same for a preview, which makes nothing: the folder is empty as long as the conversation has no files. */
export async function workspaceForPreview(
  services: OpenServices,
  context: ToolContext,
): Promise<Workspace> {
  const isEmpty = context.ownFiles !== undefined && (await projectOf(context)) === null
  return isEmpty
    ? services.workspaces.open(context.userId, NO_PROJECT)
    : requireWorkspace(services, context)
}

/** Where the conversation's files are; another call may have written the first one after this one began. */
export const projectOf = async ({
  projectId,
  ownFiles,
}: Pick<ToolContext, 'projectId' | 'ownFiles'>): Promise<ProjectId | null> =>
  projectId ?? (await ownFiles?.find()) ?? null

/** No project has this id, so its folder never exists. */
const NO_PROJECT = ProjectId.parse('none')

async function openFor(
  services: OpenServices,
  { userId }: ToolContext,
  id: ProjectId,
): Promise<Workspace> {
  await services.records.assertProject(id)
  return (await openProject(services, userId, id, 'read')).workspace
}

const noProject = (): AppError =>
  new AppError(
    'no_project',
    'This conversation has no project, so it has no files. Ask the user to choose or create a project first.',
  )

const noFilesYet = (): AppError =>
  new AppError(
    'no_project',
    'This conversation has no files yet. file_write creates the first one.',
  )

/** Who makes the change, for the project's history. */
export const originOf = (tool: string, context: ToolContext): ChangeOrigin => ({
  tool,
  messageId: context.messageId,
  runId: context.runId,
  ...(context.attempt === undefined ? {} : { attempt: context.attempt }),
  outside: context.isTainted(),
})

/** Calls of a batch that name the same path run in order. An invalid path fails later, with its reason. */
export function pathKey(path: string): string {
  try {
    return `path:${parsePath(path).text}`
  } catch {
    return `path:${path}`
  }
}

/**
 * The version of each file that a run last read, wrote or previewed. Detects changes by others before a call overwrites
 * them.
 */
export interface SeenFiles {
  note(runId: RunId, path: string, version: string): void
  /**
   * Call it when a person sees what a call would do to the current file. Returns the version that the call requires: this
   * one, or an earlier one that the run knows; in that case, the call will be refused.
   */
  noteShown(runId: RunId, path: string, version: string): string
  /** @throws AppError `file_changed` if the run knows another version of the file ('' means that it does not exist). */
  check(runId: RunId, path: string, version: string): void
  /**
   * Call it when the run changed a file without reading all of it. Updates the known version only if it was `from`, so that
   * an outdated version stays outdated.
   */
  advance(runId: RunId, path: string, from: string, to: string): void
  /** Call it when a person sees what a deletion removes. `fingerprint` identifies all of it. */
  markOutdated(runId: RunId, path: string, fingerprint: string): void
  /** @throws AppError `file_changed` if a deletion would remove something other than what was shown. */
  assertNotOutdated(runId: RunId, path: string, fingerprint: string): void
  /**
   * Restores `path` and `version` (or `doomed`) from a cached result, or from before a restart (`ToolDefinition.recall`).
   */
  recall(shown: Readonly<Record<string, unknown>>, runId: RunId): void
}

const MAX_SEEN_FILES = 20_000

/** Create one per process. Bounded: forgets the versions that were seen longest ago. */
export function createSeenFiles(): SeenFiles {
  const versions = new LRUCache<string, string>(atMost(MAX_SEEN_FILES))
  const doomed = new LRUCache<string, string>(atMost(MAX_SEEN_FILES))
  const keyOf = (runId: RunId, path: string): string => `${runId} ${pathKey(path)}`
  return {
    note: (runId, path, version) => {
      versions.set(keyOf(runId, path), version)
    },
    noteShown: (runId, path, version) => {
      const known = versions.get(keyOf(runId, path))
      if (known === undefined) versions.set(keyOf(runId, path), version)
      return known ?? version
    },
    check: (runId, path, version) => {
      const known = versions.get(keyOf(runId, path))
      if (known === undefined || known === version) return
      // Reported only once: a run that reads the file again, or repeats the call, works on the current version.
      versions.delete(keyOf(runId, path))
      throw new AppError(
        'file_changed',
        `"${path}" has changed since it was read or shown for approval. Nothing was written. Read it again, then repeat the change if it still makes sense.`,
      )
    },
    advance: (runId, path, from, to) => {
      const known = versions.get(keyOf(runId, path))
      if (known === undefined || known === from) versions.set(keyOf(runId, path), to)
    },
    markOutdated: (runId, path, fingerprint) => {
      doomed.set(keyOf(runId, path), fingerprint)
    },
    assertNotOutdated: (runId, path, fingerprint) => {
      const shown = doomed.get(keyOf(runId, path))
      doomed.delete(keyOf(runId, path))
      if (shown === undefined || shown === fingerprint) return
      throw new AppError(
        'file_changed',
        `"${path}" has changed since the deletion was shown for approval. Nothing was deleted. Check what is there now, then delete it again if it still makes sense.`,
      )
    },
    recall: ({ path, version, doomed: fingerprint }, runId) => {
      if (typeof path !== 'string') return
      if (typeof fingerprint === 'string') doomed.set(keyOf(runId, path), fingerprint)
      else if (typeof version === 'string') versions.set(keyOf(runId, path), version)
    },
  }
}

/** The warning above the preview of a call that `noteShown` found to be outdated. */
export const CHANGED_MEANWHILE_WARNING = {
  warning: 'Somebody else changed this file since the model read it, so this call will be refused.',
  warning_code: 'changed_meanwhile',
}
