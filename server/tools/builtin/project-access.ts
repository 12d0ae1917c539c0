// What every tool that works on a project's files begins with: the project's folder, and which version of a file a run has seen.
import { LRUCache } from 'lru-cache'
import { AppError } from '../../errors.ts'
import type { RunId } from '../../protocol/ids.ts'
import type { ChangeOrigin } from '../../workspace/checkpoints.ts'
import { parsePath } from '../../workspace/paths.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import type { WorkspaceRoom } from '../../workspace/workspace-room.ts'
import type { ToolContext } from '../definition.ts'

/** What file tools reach: the workspace room, and what their runs have seen. */
export interface FileToolDependencies {
  room: WorkspaceRoom
  seen: SeenFiles
}

/** The folder of the conversation's project. Throws a clear text when it has none. */
export function requireWorkspace(room: WorkspaceRoom, context: ToolContext): Workspace {
  if (context.projectId === null)
    throw new AppError(
      'no_project',
      'This conversation has no project, so there are no files to work on. Ask the user to choose or make a project first.',
    )
  return room.workspaces.open(context.userId, context.projectId)
}

export const originOf = (tool: string, context: ToolContext): ChangeOrigin => ({
  tool,
  messageId: context.messageId,
  runId: context.runId,
})

/** Calls of one batch that name the same path run in order. A path that cannot be read fails later, with its reason. */
export function pathKey(path: string): string {
  try {
    return `path:${parsePath(path).text}`
  } catch {
    return `path:${path}`
  }
}

/**
 * The version of each file as a run last read, wrote or previewed it, so that a change by somebody else is noticed before
 * it is written over.
 */
export interface SeenFiles {
  note(runId: RunId, path: string, version: string): void
  /**
   * A person is shown what a call would do to the file as it is now. Answers the version that the call will have to find:
   * this one, or an earlier one that the run knows, and then the call will be refused.
   */
  noteShown(runId: RunId, path: string, version: string): string
  /** Throws `file_changed` when the run knows the file in another version ('' for 'not there'). */
  check(runId: RunId, path: string, version: string): void
  /** Takes in `path` and `version` of what the run was shown by the cache or before a restart (`ToolDefinition.recall`). */
  recall(shown: Readonly<Record<string, unknown>>, runId: RunId): void
}

const MAX_SEEN = 20_000

export function createSeenFiles(): SeenFiles {
  const versions = new LRUCache<string, string>({ max: MAX_SEEN })
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
      // Said once: who reads the file again, or insists, works on what is there now.
      versions.delete(keyOf(runId, path))
      throw new AppError(
        'file_changed',
        `"${path}" was changed by somebody else since it was read or shown for approval. Nothing was written. Read it again and repeat the change if it still makes sense.`,
      )
    },
    recall: ({ path, version }, runId) => {
      if (typeof path === 'string' && typeof version === 'string')
        versions.set(keyOf(runId, path), version)
    },
  }
}

/** What a person reads above the preview of a call that `noteShown` found to be late. */
export const lateWarning = {
  warning: 'Somebody else changed this file since the model read it, so this call will be refused.',
  warning_code: 'changed_meanwhile',
}
