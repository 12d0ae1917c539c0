// One project's folder: reads, listings and atomic single changes within limits. Changes by users and tools go through
// `checkpoints/`, which serializes them and makes them reversible.
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, copyFile, lstat, open, rename, rm, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { AppError, appError } from '../errors.ts'
import { sizeText } from '../lib/size-text.ts'
import { systemCode } from '../lib/system-faults.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import {
  assertReplaceable,
  countedBytes,
  createFolder,
  createLink,
  type DiskOptions,
  ENTRY_BYTES,
  type Entry,
  type FileContent,
  type FileState,
  moveEntry,
  readFolder,
  readWhole,
  removeEmptyFolder,
  statEntry,
  stateOf,
  walk,
} from './files/entries.ts'
import {
  type OpenPlace,
  openRegularFile,
  type ProjectPath,
  parseInnerPath,
  parsePath,
  toFileError,
  withFolder,
  withPlace,
} from './files/paths.ts'
import type { StorageQuota } from './storage-quota.ts'

/** Writes a durable file in the folder `staging`; the caller moves it into the project or removes it. */
async function stageBytes(staging: string, bytes: Uint8Array, mode: number): Promise<string> {
  const temporary = join(staging, randomUUID())
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(bytes)
    if (mode !== 0o600) await handle.chmod(mode)
    await handle.sync()
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  } finally {
    await handle.close()
  }
  return temporary
}

/** Copies a host file to `temporary`. With `deferSync`, the caller makes it durable. */
async function stageCopy(
  source: string,
  temporary: string,
  mode: number,
  deferSync: boolean,
): Promise<void> {
  await copyFile(source, temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  await chmod(temporary, mode)
  if (deferSync) return
  const handle = await open(temporary, 'r')
  await handle.sync().finally(() => handle.close())
}

/** Opens a regular file for download; the caller must read or destroy the stream. */
async function openDownload(
  place: OpenPlace,
  path: ProjectPath,
): Promise<{ size: number; stream: Readable }> {
  const handle = await openRegularFile(place, path)
  const { size } = await handle.stat()
  // Stops at the size at opening, so that the announced length is right. `end` is inclusive, so an empty file needs no stream.
  if (size > 0) return { size, stream: handle.createReadStream({ end: size - 1 }) }
  await handle.close()
  return { size: 0, stream: Readable.from([]) }
}

/** Limits in bytes, and of the files, folders and links of a project. */
export interface WorkspaceLimits {
  fileRead: number
  fileWrite: number
  project: number
  /** By default, as many as a scan of a project visits. */
  entries?: number | undefined
}

/** Further entries of a whole project are ignored. */
const WALK_LIMIT = 200_000

/** How many files, folders and links a project may have. */
export const entriesLimit = ({ entries = WALK_LIMIT }: WorkspaceLimits): number => entries

/** The contents of a project's folder. `totalSize`: bytes of all files; `countedSize`: what counts towards limits. */
export interface WorkspaceStats {
  files: number
  directories: number
  totalSize: number
  countedSize: number
}

/** The files of one project. Every path is relative to its folder, and nothing outside of it can be reached. */
export interface Workspace {
  /** Who stores the project: its contents count there. */
  readonly userId: UserId
  /** Who works in it: the same user, unless `openProject` has opened it for another member. */
  readonly actorId: UserId
  readonly projectId: ProjectId
  /** The folder on the host, for programs that run in it; never shown to users or models. */
  readonly root: string
  readonly limits: WorkspaceLimits
  /** The state of `path`, or null when nothing is there. Links are not followed. */
  state(path: string): Promise<FileState | null>
  /** The whole file, at most `limits.fileRead` (or `maxBytes`). Throws `not_found`, `file_too_large`, `path_escapes`. */
  read(path: string, maxBytes?: number): Promise<FileContent>
  /** Opens a file of any size as a stream, which the caller must read or destroy. */
  download(path: string): Promise<{ size: number; stream: Readable }>
  /** The entries of one folder, sorted by name. */
  list(path: string): Promise<Entry[]>
  /** Counts everything in the folder. */
  stats(): Promise<WorkspaceStats>
  /** The counts of at most a minute ago, unless something was changed here since: counting 50,000 files takes seconds of CPU time. */
  recentStats(): Promise<WorkspaceStats>
  /**
   * Writes `bytes` to `path` atomically, creating missing folders. Throws `file_changed` when `expected` is given and is
   * not the current version ('' expects that nothing is there), `file_too_large`, `project_full`, `project_entries_full`,
   * `quota_exceeded`, `store_full`, `conflict` when a folder is there.
   */
  write(path: string, bytes: Uint8Array, options?: WriteOptions): Promise<FileState>
  /**
   * Creates a folder and its missing parents. Resolves with false when it already exists. Throws `project_full`,
   * `project_entries_full` and `quota_exceeded`, as `write` does.
   */
  createFolder(path: string): Promise<boolean>
  /** The same for restoring one, whose space is already claimed. */
  restoreFolder(path: string, options?: DiskOptions): Promise<void>
  /** Removes a file, a link (not its target) or a folder with everything in it, atomically. */
  remove(path: string, options?: DiskOptions): Promise<void>
  /** Renames an entry, creating missing folders within the limits; throws `conflict` when something is at `to`. */
  move(from: string, to: string): Promise<void>
  /** Removes an empty folder; resolves with false when it is not empty or not a folder. */
  removeEmptyFolder(path: string): Promise<boolean>
  /** Copies the host file `source` to `path` atomically, for restoring stored contents. */
  copyIn(path: string, source: string, mode: number, options?: DiskOptions): Promise<void>
  /** Creates a symbolic link, for restoring one; nothing in this module follows it. */
  createLink(path: string, target: string): Promise<void>
  /** Discards the cached size of the project. Call it after other code changed the project. */
  forgetSize(): void
  /**
   * Until the returned function is called, `check` runs right before each change of this folder takes effect. It rejects if
   * the caller may no longer change the folder. Requires exclusive access.
   */
  guardChanges(check: () => Promise<void>): () => void
  /** Runs the check of `guardChanges`. For code that changes the folder by other means. */
  assertMayChange(): Promise<void>
}

/** How a file is written. */
export interface WriteOptions {
  expected?: string
  /** Permission bits; defaults to those of the replaced file, else 0600. */
  mode?: number
}

/** Further entries of a folder are ignored. */
const LIST_LIMIT = 10_000
/** How long counts are shown that a program outside of this server may have made wrong. */
const STATS_TTL_MS = 60_000
/** How long the measured size of a project is cached. */
const SIZE_TTL_MS = 10 * 60_000

/** Whose project a workspace is, and where it lies. */
interface WorkspaceOptions {
  userId: UserId
  projectId: ProjectId
  /** An absolute path, as is `staging`. */
  root: string
  /** A folder on the same file system, for incomplete files and for trees that are being removed. */
  staging: string
  limits: WorkspaceLimits
  storage: StorageQuota
}

/** What a project has, or a change adds to it: counted bytes, and files, folders and links. */
interface Growth {
  bytes: number
  entries: number
}

interface OpenWorkspace extends WorkspaceOptions {
  cachedSize: (Growth & { at: number }) | undefined
  /** What is being counted or was, until something changes. */
  counted: { stats: Promise<WorkspaceStats>; at: number } | undefined
  /** The check of `guardChanges`. */
  guard: (() => Promise<void>) | undefined
}

/** Reads need no lock; changes are checked by the guard that the workspace was given. */
export function createWorkspace(options: WorkspaceOptions): Workspace {
  const { root, staging, limits } = options
  const workspace: OpenWorkspace = {
    ...options,
    cachedSize: undefined,
    counted: undefined,
    guard: undefined,
  }

  return {
    userId: options.userId,
    actorId: options.userId,
    projectId: options.projectId,
    root,
    limits,
    state: async (input) => {
      const path = parsePath(input)
      if (path.segments.length > 0) return stateAt(workspace, path)
      return withFolder(root, path, async ({ handle }) =>
        stateOf(await handle.stat({ bigint: true })),
      )
    },
    async read(input, maxBytes = limits.fileRead) {
      const path = parseInnerPath(input)
      return withPlace(root, path, {}, (place) => readWhole(place, path, maxBytes))
    },
    download: async (input) => {
      const path = parseInnerPath(input)
      return withPlace(root, path, {}, (place) => openDownload(place, path))
    },
    list: async (input) => {
      const path = parsePath(input)
      return withFolder(
        root,
        path,
        async (folder) => (await readFolder(folder, path.text, LIST_LIMIT)).entries,
      )
    },
    stats: () => stats(workspace),
    recentStats: () => recentStats(workspace),
    write: async (input, bytes, writeOptions = {}) =>
      write(workspace, parseInnerPath(input), bytes, writeOptions).finally(() => {
        workspace.counted = undefined
      }),
    createFolder: async (input) => createWithin(workspace, parseInnerPath(input)),
    restoreFolder: async (input, diskOptions = {}) => {
      await guarded(workspace, () => createFolder(root, parseInnerPath(input), diskOptions))
    },
    remove: async (input, diskOptions) =>
      guarded(workspace, () => remove(workspace, parseInnerPath(input), diskOptions)),
    move: async (from, to) => moveWithin(workspace, parseInnerPath(from), parseInnerPath(to)),
    removeEmptyFolder: async (input) =>
      guarded(workspace, () => removeEmptyFolder(root, parseInnerPath(input))),
    copyIn: async (input, source, mode, { deferSync = false } = {}) => {
      const path = parseInnerPath(input)
      const temporary = join(staging, randomUUID())
      try {
        await stageCopy(source, temporary, mode, deferSync)
        await withPlace(root, path, { create: true }, async (place) => {
          await assertMayChange(workspace)
          assertReplaceable(await statEntry(place.real), path, undefined)
          await rename(temporary, place.real)
          if (!deferSync) await place.folder.handle.sync()
        })
      } catch (error) {
        await rm(temporary, { force: true })
        throw toFileError(error, path.text)
      } finally {
        workspace.cachedSize = undefined
        workspace.counted = undefined
      }
    },
    createLink: async (input, target) =>
      guarded(workspace, () => createLink(root, parseInnerPath(input), target)),
    forgetSize: () => {
      workspace.cachedSize = undefined
      workspace.counted = undefined
    },
    guardChanges(check) {
      workspace.guard = check
      return () => {
        if (workspace.guard === check) workspace.guard = undefined
      }
    },
    assertMayChange: () => assertMayChange(workspace),
  }
}

const assertMayChange = async (workspace: OpenWorkspace): Promise<void> => await workspace.guard?.()

/** Runs `change` if the guard permits it. */
const guarded = async <T>(workspace: OpenWorkspace, change: () => Promise<T>): Promise<T> => {
  await assertMayChange(workspace)
  // What is counted meanwhile may hold half of the change.
  return await change().finally(() => {
    workspace.counted = undefined
  })
}

const stateAt = async ({ root }: OpenWorkspace, path: ProjectPath): Promise<FileState | null> => {
  try {
    return await withPlace(root, path, {}, ({ real }) => statEntry(real))
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null
    throw error
  }
}

const stats = async (workspace: OpenWorkspace): Promise<WorkspaceStats> => {
  const { root } = workspace
  const sum: WorkspaceStats = { files: 0, directories: 0, totalSize: 0, countedSize: 0 }
  await walk(root, parsePath(''), { maxEntries: WALK_LIMIT }, (entry) => {
    if (entry.kind === 'directory') sum.directories++
    else sum.files++
    sum.totalSize += entry.size
    sum.countedSize += countedBytes(entry.kind, entry.size)
  })
  const entries = sum.files + sum.directories
  workspace.cachedSize = { bytes: sum.countedSize, entries, at: Date.now() }
  return sum
}

const recentStats = async (workspace: OpenWorkspace): Promise<WorkspaceStats> => {
  const { counted } = workspace
  if (counted !== undefined && performance.now() - counted.at < STATS_TTL_MS) return counted.stats
  const counting = { stats: stats(workspace), at: performance.now() }
  workspace.counted = counting
  counting.stats.catch(() => {
    if (workspace.counted === counting) workspace.counted = undefined
  })
  return counting.stats
}

const size = async (workspace: OpenWorkspace): Promise<Growth> => {
  const known = workspace.cachedSize
  if (known !== undefined && Date.now() - known.at < SIZE_TTL_MS) return known
  const { countedSize, files, directories } = await stats(workspace)
  return { bytes: countedSize, entries: files + directories }
}

/** @throws AppError `project_full`, `project_entries_full`. */
export function assertWithin(limits: WorkspaceLimits, used: Growth, growth: Growth): void {
  if (growth.bytes > 0 && used.bytes + growth.bytes > limits.project)
    throw appError('project_full', { limit: sizeText(limits.project) })
  const limit = entriesLimit(limits)
  if (growth.entries > 0 && used.entries + growth.entries > limit)
    throw appError('project_entries_full', { limit })
}

/**
 * Claims what a change adds, until it is recorded with the project's new size. @returns what the project has afterwards, for
 * `cachedSize`.
 */
async function claimGrowth(
  workspace: OpenWorkspace,
  growth: Growth,
): Promise<Growth & { at: number }> {
  const { bytes, entries } = await size(workspace)
  const at = workspace.cachedSize?.at ?? Date.now()
  assertWithin(workspace.limits, { bytes, entries }, growth)
  if (growth.bytes > 0)
    await workspace.storage.claim(workspace.userId, workspace.projectId, growth.bytes)
  return { bytes: bytes + growth.bytes, entries: entries + growth.entries, at }
}

/** Counts the folders above a path that do not exist yet. A link in the way is refused later. */
async function missingAbove(workspace: OpenWorkspace, { segments }: ProjectPath): Promise<number> {
  for (let depth = segments.length - 1; depth > 0; depth--) {
    const above = parseInnerPath(segments.slice(0, depth).join('/'))
    if ((await stateAt(workspace, above)) !== null) return segments.length - 1 - depth
  }
  return segments.length - 1
}

/** Creates a folder within the limits. */
async function createWithin(workspace: OpenWorkspace, path: ProjectPath): Promise<boolean> {
  const create = () => guarded(workspace, () => createFolder(workspace.root, path, {}))
  if ((await stateAt(workspace, path)) !== null) return create()
  const entries = 1 + (await missingAbove(workspace, path))
  const after = await claimGrowth(workspace, { bytes: entries * ENTRY_BYTES, entries })
  const isNew = await create()
  workspace.cachedSize = after
  return isNew
}

/** Renames an entry. The folders that it creates count. */
async function moveWithin(
  workspace: OpenWorkspace,
  from: ProjectPath,
  to: ProjectPath,
): Promise<void> {
  const move = () => guarded(workspace, () => moveEntry(workspace.root, from, to))
  const entries = (await stateAt(workspace, from)) === null ? 0 : await missingAbove(workspace, to)
  if (entries === 0) return move()
  const after = await claimGrowth(workspace, { bytes: entries * ENTRY_BYTES, entries })
  await move()
  workspace.cachedSize = after
}

const write = async (
  workspace: OpenWorkspace,
  path: ProjectPath,
  bytes: Uint8Array,
  { expected, mode }: WriteOptions,
): Promise<FileState> => {
  const { limits, root, staging } = workspace
  if (bytes.length > limits.fileWrite)
    throw appError('file_too_large_to_write', {
      path: path.text,
      size: sizeText(bytes.length),
      limit: sizeText(limits.fileWrite),
    })
  // All checks come before anything is created.
  const before = await stateAt(workspace, path)
  assertReplaceable(before, path, expected)
  const added = before === null ? 1 + (await missingAbove(workspace, path)) : 0
  const inFolders = Math.max(0, added - 1) * ENTRY_BYTES
  const replaced = before === null ? 0 : countedBytes('file', before.size)
  const grown = await claimGrowth(workspace, {
    bytes: inFolders + countedBytes('file', bytes.length) - replaced,
    entries: added,
  })
  return withPlace(root, path, { create: true }, async (place) => {
    // Preserves the execute bit, so that a script stays executable.
    const temporary = await stageBytes(
      staging,
      bytes,
      mode ?? 0o600 | ((before?.mode ?? 0) & 0o100),
    )
    try {
      await assertMayChange(workspace)
      // Checked again, because another program may have edited the file in the meantime.
      assertReplaceable(await statEntry(place.real), path, expected)
      await rename(temporary, place.real)
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
    await place.folder.handle.sync()
    workspace.cachedSize = grown
    const after = await statEntry(place.real)
    if (after === null) throw appError('file_removed_while_written', { path: path.text })
    return after
  })
}

/** Removes an entry; a folder is moved out of the project at once and deleted in the background. */
const remove = (
  workspace: OpenWorkspace,
  path: ProjectPath,
  { deferSync = false }: DiskOptions = {},
): Promise<void> =>
  withPlace(workspace.root, path, {}, async (place) => {
    const before = await lstat(place.real)
    if (!before.isDirectory()) {
      await unlink(place.real)
      if (workspace.cachedSize !== undefined) {
        workspace.cachedSize.bytes -= countedBytes(before.isFile() ? 'file' : 'other', before.size)
        workspace.cachedSize.entries -= 1
      }
    } else {
      workspace.cachedSize = undefined
      await rmdir(place.real).catch(async (error: unknown) => {
        if (!['ENOTEMPTY', 'EEXIST'].includes(systemCode(error))) throw error
        const trash = join(workspace.staging, randomUUID())
        await rename(place.real, trash)
        // Not awaited; the next start removes what a crash leaves behind.
        rm(trash, { recursive: true, force: true, maxRetries: 2 }).catch(() => {})
      })
    }
    if (!deferSync) await place.folder.handle.sync()
  })
