// Creates the services of the workspace module.
import type { CheckpointRepository } from '../db/repositories/projects/checkpoints.ts'
import type { ProjectRepository } from '../db/repositories/projects/projects.ts'
import type { StorageRepository } from '../db/repositories/projects/storage.ts'
import type { OutsideContentRepository } from '../db/repositories/runs/outside-contents.ts'
import type { Limits } from '../lib/limits.ts'
import { NO_OTHERS } from '../lib/local-limits.ts'
import type { WorkClaims } from '../lib/work-claims.ts'
import type { UserId } from '../protocol/ids.ts'
import type { BubblewrapState } from '../sandbox/bubblewrap.ts'
import { type Checkpoints, createCheckpoints } from './checkpoints/checkpoints.ts'
import { createDiffs, type MakeDiff } from './checkpoints/diff/diffs.ts'
import type { PruneRule } from './checkpoints/prune.ts'
import { createKeyedMutex, type KeyedMutex } from './keyed-mutex.ts'
import { createProjectSearch, findRipgrep, type ProjectSearch } from './search/project-search.ts'
import { createStorageQuota } from './storage-quota.ts'
import { createWorkerPool, type WorkerPool } from './worker/worker-pool.ts'
import type { WorkspaceLimits } from './workspace.ts'
import { createWorkspaces, notingScratch, type Workspaces } from './workspaces.ts'

/** The services that work on projects' files. */
export interface WorkspaceServices {
  workspaces: Workspaces
  checkpoints: Checkpoints
  search: ProjectSearch
  makeDiff: MakeDiff
  mutex: KeyedMutex
  pool: WorkerPool
  records: CheckpointRepository
  /** Who may do what in which project. */
  projects: Pick<ProjectRepository, 'find'>
  /** Whether the kernel can isolate programs on this machine. */
  bubblewrap: BubblewrapState
  close(): Promise<void>
}

const WORKERS = 3
/** How long a change waits for other changes of the same project. */
const LOCK_WAIT_MS = 60_000

/** What the workspace is built from. */
export interface WorkspaceOptions {
  root: string
  limits: WorkspaceLimits
  /** Maximum duration of a search, whatever its pattern. */
  searchTimeoutMs: number
  rule: PruneRule
  records: CheckpointRepository
  projects: Pick<ProjectRepository, 'find' | 'ownerOf'>
  outsideContents: OutsideContentRepository
  /** Each user's storage and its limit. */
  storage: { records: StorageRepository; limit(userId: UserId): number }
  bubblewrap: BubblewrapState
  /** Decides which instance changes a project; undefined in a single process. */
  claims?: WorkClaims | undefined
  /** Counters that instances share; undefined in a single process. */
  counts?: Pick<Limits, 'amounts'> | undefined
  log: { warn(details: object, message: string): void }
}

/** @throws AppError if the workspace root cannot be used. */
export async function createWorkspaceServices(
  options: WorkspaceOptions,
): Promise<WorkspaceServices> {
  const { root, limits, rule, outsideContents, bubblewrap, log } = options
  let recovered: ReadonlyMap<UserId, Promise<void>> = new Map()
  const storage = createStorageQuota({
    ...options.storage,
    claimed: options.counts?.amounts('claimed storage') ?? NO_OTHERS,
    storedTexts: options.counts?.amounts('stored texts') ?? NO_OTHERS,
    recovered: async (userId) => await recovered.get(userId),
    measure: async (userId, projectId) =>
      (await workspaces.open(userId, projectId).stats()).countedSize,
  })
  const workspaces: Workspaces = await createWorkspaces({ root, limits, storage, log })
  const records = notingScratch(options.records, workspaces)
  const mutex = createKeyedMutex(LOCK_WAIT_MS, options.claims)
  const pool = createWorkerPool(WORKERS)
  const checkpoints = createCheckpoints({
    records,
    projects: options.projects,
    histories: options.storage.records,
    outsideContents,
    workspaces,
    mutex,
    pool,
    rule,
    log,
  })
  recovered = await checkpoints.recoverAll()
  return {
    workspaces,
    mutex,
    pool,
    records,
    projects: options.projects,
    bubblewrap,
    checkpoints,
    search: createProjectSearch({
      ripgrep: findRipgrep(),
      bubblewrap,
      pool,
      timeoutMs: options.searchTimeoutMs,
      maxFileBytes: limits.fileRead,
    }),
    makeDiff: createDiffs(pool),
    close: () => pool.close(),
  }
}
