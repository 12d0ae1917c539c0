// The folders of all projects below the workspace root: their paths, creation, removal and clean-up.

import { randomUUID } from 'node:crypto'
import { mkdir, readdir, realpath, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import type { CheckpointRepository } from '../db/repositories/projects/checkpoints.ts'
import { appError } from '../errors.ts'
import { atMost } from '../lib/lru-limit.ts'
import { makeFolder } from '../lib/make-folder.ts'
import { ensureProcessFolder, openProcessFolder } from '../lib/process-folder.ts'
import { systemCode } from '../lib/system-faults.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import { markRemoved, unmarkRemoved } from './files/paths.ts'
import { type StorageQuota, unlimitedStorage } from './storage-quota.ts'
import { createWorkspace, type Workspace, type WorkspaceLimits } from './workspace.ts'

/** The workspaces of all projects. */
export interface Workspaces {
  /** Opens the project's folder, without I/O. The caller has checked that the project belongs to the user. */
  open(userId: UserId, projectId: ProjectId): Workspace
  /** Says whether the project holds the files of one conversation, which are bounded to 100 MB. */
  noteScratch(projectId: ProjectId, isScratch: boolean): void
  /** Moves the project's folder and its checkpoints away at once; deletes their contents in the background. */
  remove(userId: UserId, projectId: ProjectId): Promise<void>
  /**
   * Moves the project's folder to another user. Later work in the former folder is refused. Does nothing if it was already
   * moved or does not exist yet.
   */
  handOver(projectId: ProjectId, users: { from: UserId; to: UserId }): Promise<void>
  /**
   * Moves the project's folder back to its user from another one, where a hand-over that died before it changed the rows has
   * left it. Does nothing if the user has it.
   */
  bringBack(userId: UserId, projectId: ProjectId): Promise<void>
  /** Creates an empty folder on the same file system, which `adopt` can turn into a project. */
  createStagingFolder(): Promise<string>
  /** Turns a staged folder into the project's folder by one rename. The project must not have a folder yet. */
  adopt(staged: string, userId: UserId, projectId: ProjectId): Promise<void>
  /** The server's own folder for a project (its checkpoints), outside of the project's folder. */
  serverFolder(projectId: ProjectId): string
  /** The existing server folders of all projects. */
  serverFolders(): Promise<string[]>
  /** A folder on the same file system for incomplete files. The next start removes what a dead process left in it. */
  readonly staging: string
  readonly limits: WorkspaceLimits
  /** Each user's storage. */
  readonly storage: StorageQuota
}

/** The server's own files, next to the users' folders. No user id has this form. */
const SERVER_FOLDER = '.nanoclaw'
const MAX_OPEN_WORKSPACES = 1_000
/** The limit for the files of one conversation. */
export const SCRATCH_BYTES = 100 * 1024 * 1024
const MAX_SCRATCH_PROJECTS = 10_000

/** An id as part of a host path. The server creates all ids; this check is the last line of defence. */
function folderName(id: string): string {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) throw appError('project_not_found')
  return id
}

/** Where the folders of all projects are. */
interface WorkspacesState {
  readonly limits: WorkspaceLimits
  readonly storage: StorageQuota
  /** The operator's path may contain links; this one does not. */
  readonly root: string
  /** The staging folder of this process. */
  readonly own: string
  readonly opened: LRUCache<string, Workspace>
  /** Projects with the files of one conversation, as far as they were changed lately. */
  readonly scratch: LRUCache<ProjectId, true>
}

/**
 * Prepares the workspace root (creating it with 0700 if missing) and removes what dead processes left in the staging
 * folder. Throws when the root cannot be used.
 */
export async function createWorkspaces(options: {
  root: string
  limits: WorkspaceLimits
  /** By default, only the limit of each project applies. */
  storage?: StorageQuota
  log?: { warn(details: object, message: string): void }
}): Promise<Workspaces> {
  const { storage = unlimitedStorage } = options
  makeFolder(options.root)
  const root = await realpath(options.root)
  const staging = join(root, SERVER_FOLDER, 'staging')
  await mkdir(staging, { recursive: true, mode: 0o700 })
  const own = await openProcessFolder(staging, options.log)
  const state: WorkspacesState = {
    limits: options.limits,
    storage,
    root,
    own,
    opened: new LRUCache<string, Workspace>({ max: MAX_OPEN_WORKSPACES }),
    scratch: new LRUCache<ProjectId, true>(atMost(MAX_SCRATCH_PROJECTS)),
  }
  return {
    limits: state.limits,
    storage: state.storage,
    staging: state.own,
    open: (userId, projectId) => open(state, userId, projectId),
    noteScratch(projectId, isScratch) {
      if (isScratch) state.scratch.set(projectId, true)
      else state.scratch.delete(projectId)
    },
    remove: (userId, projectId) => remove(state, userId, projectId),
    handOver: (projectId, users) => handOver(state, projectId, users),
    bringBack: (userId, projectId) => bringBack(state, userId, projectId),
    async createStagingFolder() {
      const folder = join(state.own, randomUUID())
      await ensureProcessFolder(state.own)
      await mkdir(folder, { mode: 0o700 })
      return folder
    },
    async adopt(staged, userId, projectId) {
      const folder = folderOf(state, userId, projectId)
      await mkdir(join(state.root, folderName(userId)), { recursive: true, mode: 0o700 })
      await rename(staged, folder)
    },
    serverFolder: (projectId) => serverFolder(state, projectId),
    serverFolders: () => serverFolders(state),
  }
}

/**
 * The records of changes, which tell `workspaces` what a project holds: everything that changes a project asks them for it
 * first, so its size limit is known then.
 */
export const notingScratch = (
  records: CheckpointRepository,
  workspaces: Pick<Workspaces, 'noteScratch'>,
): CheckpointRepository => ({
  ...records,
  async assertProject(projectId) {
    const project = await records.assertProject(projectId)
    workspaces.noteScratch(projectId, project.isScratch)
    return project
  },
})

const folderOf = (state: WorkspacesState, userId: UserId, projectId: ProjectId): string =>
  join(state.root, folderName(userId), folderName(projectId))

const serverFolder = (state: WorkspacesState, projectId: ProjectId): string =>
  join(state.root, SERVER_FOLDER, 'projects', folderName(projectId))

/** Read at each use: the files of a conversation may become an ordinary project. */
const limitsOf = ({ limits, scratch }: WorkspacesState, projectId: ProjectId): WorkspaceLimits => ({
  fileRead: limits.fileRead,
  fileWrite: limits.fileWrite,
  entries: limits.entries,
  get project() {
    return scratch.has(projectId) ? Math.min(SCRATCH_BYTES, limits.project) : limits.project
  },
})

function open(state: WorkspacesState, userId: UserId, projectId: ProjectId): Workspace {
  const folder = folderOf(state, userId, projectId)
  let workspace = state.opened.get(folder)
  if (workspace === undefined) {
    workspace = createWorkspace({
      userId,
      projectId,
      root: folder,
      staging: state.own,
      limits: limitsOf(state, projectId),
      storage: state.storage,
    })
    state.opened.set(folder, workspace)
  }
  return workspace
}

async function remove(state: WorkspacesState, userId: UserId, projectId: ProjectId): Promise<void> {
  const folder = folderOf(state, userId, projectId)
  state.opened.delete(folder)
  markRemoved(folder)
  // Without it, the folders would seem to be missing.
  await ensureProcessFolder(state.own)
  for (const removed of [folder, serverFolder(state, projectId)]) {
    const trash = join(state.own, randomUUID())
    try {
      await rename(removed, trash)
    } catch (error) {
      if (systemCode(error) === 'ENOENT') continue
      throw error
    }
    rm(trash, { recursive: true, force: true, maxRetries: 2 }).catch(() => {})
  }
}

async function handOver(
  state: WorkspacesState,
  projectId: ProjectId,
  { from, to }: { from: UserId; to: UserId },
): Promise<void> {
  const folder = folderOf(state, from, projectId)
  state.opened.delete(folder)
  markRemoved(folder)
  await mkdir(join(state.root, folderName(to)), { recursive: true, mode: 0o700 })
  try {
    await rename(folder, folderOf(state, to, projectId))
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
}

async function bringBack(
  state: WorkspacesState,
  userId: UserId,
  projectId: ProjectId,
): Promise<void> {
  const folder = folderOf(state, userId, projectId)
  unmarkRemoved(folder)
  const own = await readdir(folder).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  })
  if (own.length > 0) return
  await mkdir(join(state.root, folderName(userId)), { recursive: true, mode: 0o700 })
  for (const other of await readdir(state.root)) {
    if (other === SERVER_FOLDER || other === userId) continue
    try {
      await rename(join(state.root, other, folderName(projectId)), folder)
    } catch (error) {
      if (!['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) throw error
    }
  }
}

async function serverFolders(state: WorkspacesState): Promise<string[]> {
  const all = join(state.root, SERVER_FOLDER, 'projects')
  const names = await readdir(all).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  })
  return names.map((name) => join(all, name))
}
