// Projects' folders and what looks into them.

import type { Config } from '../config/schema.ts'
import { AppError } from '../errors.ts'
import { detectBubblewrap } from '../sandbox/bubblewrap.ts'
import type { ReadProjectFiles } from '../tools/builtin/execute-python.ts'
import { createProjectSearch, findRipgrep, type ProjectSearch } from '../workspace/search.ts'
import { createWorkerPool, type WorkerPool } from '../workspace/worker-pool.ts'
import { createWorkspaces, type Workspaces } from '../workspace/workspaces.ts'

export interface WorkspaceRooms {
  workspaces: Workspaces
  search: ProjectSearch
  /** The files that a program asks for, within its limits. */
  readFiles: ReadProjectFiles
  pool: WorkerPool
  close(): Promise<void>
}

const SEARCH_MS = 2000
const POOL_SIZE = 2

/** Prepares the workspace root. Throws when it cannot be used. */
export async function createWorkspaceRooms({
  workspace_root: root,
  limits,
}: Config): Promise<WorkspaceRooms> {
  const workspaces = await createWorkspaces({
    root,
    limits: { fileRead: limits.file_read, fileWrite: limits.file_write, project: limits.project },
  })
  const pool = createWorkerPool(POOL_SIZE)
  const search = createProjectSearch({
    ripgrep: findRipgrep(),
    bubblewrap: await detectBubblewrap(),
    pool,
    timeoutMs: SEARCH_MS,
    maxFileBytes: limits.file_read,
  })
  return {
    workspaces,
    search,
    readFiles: createFileReader(workspaces, search),
    pool,
    close: () => pool.close(),
  }
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
