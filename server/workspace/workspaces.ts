// All projects' folders under the workspace root: where each one is, and how they are created, removed and cleaned up.
import { randomUUID } from 'node:crypto'
import { lstat, mkdir, readdir, realpath, rename, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { LRUCache } from 'lru-cache'
import { appError } from '../errors.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import { systemCode } from './files/faults.ts'
import { markRemoved } from './files/paths.ts'
import { noQuota, type StorageQuota } from './storage-quota.ts'
import { createWorkspace, type Workspace, type WorkspaceLimits } from './workspace.ts'

export interface Workspaces {
  /** The project's folder. Callers have checked that the project is this user's. No I/O. */
  open(userId: UserId, projectId: ProjectId): Workspace
  /** Removes the project's folder and its checkpoints by a rename; their contents are deleted afterwards. */
  remove(userId: UserId, projectId: ProjectId): Promise<void>
  /** A new empty folder on the same file system, which can become a project by one rename. */
  makeStaging(): Promise<string>
  /** Makes a staged folder the project's. The project must not have a folder yet. */
  adopt(staged: string, userId: UserId, projectId: ProjectId): Promise<void>
  /** The folder for what belongs to a project but is not in it (its checkpoints). */
  sideFolder(projectId: ProjectId): string
  /** All of these that there are. */
  sideFolders(): Promise<string[]>
  /** A folder on the same file system for unfinished files; the next start removes what a dead process left in it. */
  readonly staging: string
  readonly limits: WorkspaceLimits
  /** Each user's storage. */
  readonly storage: StorageQuota
}

/** Beside the users' folders: what the server stores for itself. No user id has this form. */
const OWN_FOLDER = '.nanoclaw'
const KEPT_OPEN = 1_000
/** Distinguishes this process from an earlier one with the same pid, as in a restarted container. */
const PROCESS_MARK = randomUUID()
const ABANDONED_MS = 24 * 60 * 60_000

/** An id as part of a host path. Ids are created by the server; this is the last check in case one is not. */
function folderName(id: string): string {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) throw appError('project_not_found')
  return id
}

/**
 * Prepares the workspace root (created when missing, 0700) and cleans up what an earlier process left unfinished.
 * Throws when the root cannot be used.
 */
export async function createWorkspaces(options: {
  root: string
  limits: WorkspaceLimits
  /** Without it only the limits of each project apply. */
  storage?: StorageQuota
}): Promise<Workspaces> {
  const { storage = noQuota } = options
  await mkdir(resolve(options.root), { recursive: true, mode: 0o700 })
  // The operator's path to the root may contain links; the resolved one does not.
  const root = await realpath(options.root)
  const staging = join(root, OWN_FOLDER, 'staging')
  await mkdir(staging, { recursive: true, mode: 0o700 })
  await sweep(staging)
  const own = join(staging, `${hostname()}~${process.pid}~${PROCESS_MARK}`)
  await mkdir(own, { recursive: true, mode: 0o700 })

  const opened = new LRUCache<string, Workspace>({ max: KEPT_OPEN })
  const placeOf = (userId: UserId, projectId: ProjectId): string =>
    join(root, folderName(userId), folderName(projectId))
  const sideFolder = (projectId: ProjectId): string =>
    join(root, OWN_FOLDER, 'projects', folderName(projectId))

  return {
    limits: options.limits,
    storage,
    staging: own,
    open(userId, projectId) {
      const place = placeOf(userId, projectId)
      let workspace = opened.get(place)
      if (workspace === undefined) {
        workspace = createWorkspace({
          userId,
          projectId,
          root: place,
          staging: own,
          limits: options.limits,
          storage,
        })
        opened.set(place, workspace)
      }
      return workspace
    },
    async remove(userId, projectId) {
      const place = placeOf(userId, projectId)
      opened.delete(place)
      markRemoved(place)
      for (const folder of [place, sideFolder(projectId)]) {
        const grave = join(own, randomUUID())
        try {
          await rename(folder, grave)
        } catch (error) {
          if (systemCode(error) === 'ENOENT') continue
          throw error
        }
        rm(grave, { recursive: true, force: true, maxRetries: 2 }).catch(() => {})
      }
    },
    async makeStaging() {
      const folder = join(own, randomUUID())
      await mkdir(folder, { mode: 0o700 })
      return folder
    },
    async adopt(staged, userId, projectId) {
      const place = placeOf(userId, projectId)
      await mkdir(join(root, folderName(userId)), { recursive: true, mode: 0o700 })
      await rename(staged, place)
    },
    sideFolder,
    async sideFolders() {
      const all = join(root, OWN_FOLDER, 'projects')
      const names = await readdir(all).catch((error: unknown) => {
        if (systemCode(error) === 'ENOENT') return []
        throw error
      })
      return names.map((name) => join(all, name))
    },
  }
}

/**
 * Removes what dead processes left in the staging folder. Another process may share the root and be active: its folder
 * stays while the process lives or, on another host where that is unknown, for a day after its last use.
 */
async function sweep(staging: string): Promise<void> {
  for (const name of await readdir(staging)) {
    const [host, pid, mark] = name.split('~')
    if (mark === PROCESS_MARK) continue
    const isDead =
      host === hostname()
        ? Number(pid) === process.pid || !isAlive(Number(pid))
        : Date.now() - (await lstat(join(staging, name))).mtimeMs > ABANDONED_MS
    if (isDead) await rm(join(staging, name), { recursive: true, force: true, maxRetries: 2 })
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user, which we may not signal, is alive too.
    return systemCode(error) === 'EPERM'
  }
}
