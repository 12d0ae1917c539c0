// Projects' folders and what works on them.
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config/schema.ts'
import type { CheckpointRepository } from '../db/repositories/checkpoints.ts'
import { AppError } from '../errors.ts'
import { type BubblewrapState, detectBubblewrap } from '../sandbox/bubblewrap.ts'
import type { ReadProjectFiles } from '../tools/builtin/execute-python.ts'
import type { ProjectSearch } from '../workspace/search.ts'
import { createWorkspaceRoom, type WorkspaceRoom } from '../workspace/workspace-room.ts'
import type { Workspaces } from '../workspace/workspaces.ts'

export interface WorkspaceRooms extends WorkspaceRoom {
  /** The files that a program asks for, within its limits. */
  readFiles: ReadProjectFiles
  /** Whether programs can be isolated by the kernel here. */
  bubblewrap: BubblewrapState
}

/** Prepares the workspace root. Throws when it cannot be used. */
export async function createWorkspaceRooms(
  { workspace_root: root, limits, checkpoints }: Config,
  records: CheckpointRepository,
  log: FastifyBaseLogger,
): Promise<WorkspaceRooms> {
  const bubblewrap = await detectBubblewrap()
  const room = await createWorkspaceRoom({
    root,
    limits: { fileRead: limits.file_read, fileWrite: limits.file_write, project: limits.project },
    rule: {
      keep: checkpoints.keep,
      maxAgeDays: checkpoints.max_age_days,
      maxBytes: checkpoints.max_size,
    },
    records,
    bubblewrap,
    log,
  })
  return { ...room, bubblewrap, readFiles: createFileReader(room.workspaces, room.search) }
}

/** Reads files by exact path or by pattern; a pattern that matches nothing is told, so that the model can mend it. */
function createFileReader(workspaces: Workspaces, search: ProjectSearch): ReadProjectFiles {
  return async ({ userId, projectId }, patterns, { maxFiles, maxBytes }) => {
    const workspace = workspaces.open(userId, projectId)
    const paths = new Set<string>()
    for (const pattern of patterns) {
      const isFile = !/[*?[{]/.test(pattern) && (await workspace.state(pattern)) !== null
      const found = isFile ? [pattern] : (await search.find(workspace, pattern, maxFiles + 1)).paths
      if (found.length === 0) throw new AppError('not_found', `No file matches "${pattern}".`)
      for (const path of found) paths.add(path)
    }
    if (paths.size > maxFiles)
      throw new AppError('bad_request', `At most ${maxFiles} files can be passed in.`)
    const files: { path: string; content: Uint8Array }[] = []
    let left = maxBytes
    for (const path of paths) {
      const { bytes } = await workspace.read(path, Math.max(1, left))
      left -= bytes.length
      if (left < 0)
        throw new AppError('bad_request', `At most ${maxBytes} bytes of files can be passed in.`)
      files.push({ path, content: bytes })
    }
    return files
  }
}
