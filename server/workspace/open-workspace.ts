// Creates the workspace module for the server.
import type { CheckpointRepository } from '../db/repositories/checkpoints.ts'
import type { OutsideContentRepository } from '../db/repositories/outside-contents.ts'
import type { StorageRepository } from '../db/repositories/storage.ts'
import type { UserId } from '../protocol/ids.ts'
import type { BubblewrapState } from '../sandbox/bubblewrap.ts'
import { type Checkpoints, createCheckpoints } from './checkpoints/checkpoints.ts'
import { createDiffs, type MakeDiff } from './checkpoints/diffs.ts'
import type { PruneRule } from './checkpoints/prune.ts'
import { createLanes, type Lanes } from './project-lock.ts'
import { createProjectSearch, findRipgrep, type ProjectSearch } from './search/search.ts'
import { createStorageQuota } from './storage-quota.ts'
import { createWorkerPool, type WorkerPool } from './worker/worker-pool.ts'
import type { WorkspaceLimits } from './workspace.ts'
import { createWorkspaces, type Workspaces } from './workspaces.ts'

/** Everything that works on projects' files. */
export interface WorkspaceRoom {
  workspaces: Workspaces
  checkpoints: Checkpoints
  search: ProjectSearch
  makeDiff: MakeDiff
  lanes: Lanes
  pool: WorkerPool
  records: CheckpointRepository
  close(): Promise<void>
}

const WORKERS = 2
/** How long a change waits for another one of the same project. */
const LANE_WAIT_MS = 60_000
const SEARCH_MS = 2_000

/** Throws when the workspace root cannot be used. */
export async function createWorkspaceRoom(options: {
  root: string
  limits: WorkspaceLimits
  rule: PruneRule
  records: CheckpointRepository
  outsideContents: OutsideContentRepository
  /** Each user's storage and its limit. */
  storage: { records: StorageRepository; limit: number }
  bubblewrap: BubblewrapState
  log: { warn(details: object, message: string): void }
}): Promise<WorkspaceRoom> {
  const { root, limits, rule, records, outsideContents, bubblewrap, log } = options
  let settled: ReadonlyMap<UserId, Promise<void>> = new Map()
  const storage = createStorageQuota({
    ...options.storage,
    settled: async (userId) => await settled.get(userId),
    measure: async (userId, projectId) =>
      (await workspaces.open(userId, projectId).stats()).totalSize,
  })
  const workspaces: Workspaces = await createWorkspaces({ root, limits, storage })
  const lanes = createLanes(LANE_WAIT_MS)
  const pool = createWorkerPool(WORKERS)
  const checkpoints = createCheckpoints({
    records,
    outsideContents,
    workspaces,
    lanes,
    pool,
    rule,
    log,
  })
  settled = await checkpoints.settleAll()
  return {
    workspaces,
    lanes,
    pool,
    records,
    checkpoints,
    search: createProjectSearch({
      ripgrep: findRipgrep(),
      bubblewrap,
      pool,
      timeoutMs: SEARCH_MS,
      maxFileBytes: limits.fileRead,
    }),
    makeDiff: createDiffs(pool),
    close: () => pool.close(),
  }
}
