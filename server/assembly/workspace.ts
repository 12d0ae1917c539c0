// Projects' folders and what works on them.
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config/schema.ts'
import type { CheckpointRepository } from '../db/repositories/checkpoints.ts'
import { type BubblewrapState, detectBubblewrap } from '../sandbox/bubblewrap.ts'
import { createProjectFileReader, type ReadProjectFiles } from '../tools/project-files.ts'
import { createWorkspaceRoom, type WorkspaceRoom } from '../workspace/workspace-room.ts'

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
  return {
    ...room,
    bubblewrap,
    readFiles: createProjectFileReader({ workspaces: room.workspaces, search: room.search }),
  }
}
