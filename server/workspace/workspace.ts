// One project's folder: reads, listings and atomic single changes within limits. Changes by users and tools go through
// `checkpoints/`, which serializes them and makes them reversible.
import { randomUUID } from 'node:crypto'
import { lstat, rename, rm, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { AppError, appError } from '../errors.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import {
  createFolder,
  createLink,
  type DiskOptions,
  moveEntry,
  removeEmptyFolder,
} from './files/entries.ts'
import { sizeText, systemCode, toFileError } from './files/faults.ts'
import {
  assertReplaceable,
  type FileContent,
  type FileState,
  readWhole,
  statEntry,
  stateOf,
} from './files/file-state.ts'
import {
  type ProjectPath,
  parseInnerPath,
  parsePath,
  withFolder,
  withPlace,
} from './files/paths.ts'
import { openDownload, stageBytes, stageCopy } from './files/transfer.ts'
import { type Entry, readFolder, walk } from './files/walk.ts'
import type { StorageQuota } from './storage-quota.ts'

/** Limits in bytes. */
export interface WorkspaceLimits {
  fileRead: number
  fileWrite: number
  project: number
}

/** The contents of a project's folder. `totalSize` is in bytes. */
export interface WorkspaceStats {
  files: number
  directories: number
  totalSize: number
}

/** The files of one project. Every path is relative to its folder, and nothing outside of it can be reached. */
export interface Workspace {
  readonly userId: UserId
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
  stats(): Promise<WorkspaceStats>
  /**
   * Writes `bytes` to `path` atomically, creating missing folders. Throws `file_changed` when `expected` is given and is
   * not the current version ('' expects that nothing is there), `file_too_large`, `project_full`,
   * `quota_exceeded`, `store_full`, `conflict` when a folder is there.
   */
  write(path: string, bytes: Uint8Array, options?: WriteOptions): Promise<FileState>
  /** Creates a folder and its missing parents. Resolves with false when it already exists. */
  createFolder(path: string, options?: DiskOptions): Promise<boolean>
  /** Removes a file, a link (not its target) or a folder with everything in it, atomically. */
  remove(path: string, options?: DiskOptions): Promise<void>
  /** Renames an entry, creating missing folders; throws `conflict` when something is at `to`. */
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

/** Further entries of a folder, or of a whole project, are ignored. */
const LIST_LIMIT = 10_000
const WALK_LIMIT = 200_000
/** How long the measured size of a project is cached. */
const SIZE_TTL_MS = 10 * 60_000

/**
 * `root` and `staging` are absolute paths. Reads need no lock; changes are checked by the guard
 * that the workspace was given.
 */
export function createWorkspace(options: {
  userId: UserId
  projectId: ProjectId
  root: string
  /** A folder on the same file system, for incomplete files and for trees that are being removed. */
  staging: string
  limits: WorkspaceLimits
  storage: StorageQuota
}): Workspace {
  const { root, staging, limits } = options
  let cachedSize: { bytes: number; at: number } | undefined
  let guard: (() => Promise<void>) | undefined
  const assertMayChange = async (): Promise<void> => await guard?.()
  /** Runs `change` if the guard permits it. */
  const guarded = async <T>(change: () => Promise<T>): Promise<T> => {
    await assertMayChange()
    return await change()
  }

  const stateAt = async (path: ProjectPath): Promise<FileState | null> => {
    try {
      return await withPlace(root, path, {}, ({ real }) => statEntry(real))
    } catch (error) {
      if (error instanceof AppError && error.code === 'not_found') return null
      throw error
    }
  }

  const stats = async (): Promise<WorkspaceStats> => {
    const sum: WorkspaceStats = { files: 0, directories: 0, totalSize: 0 }
    await walk(root, parsePath(''), { maxEntries: WALK_LIMIT }, (entry) => {
      if (entry.kind === 'directory') sum.directories++
      else sum.files++
      sum.totalSize += entry.size
    })
    cachedSize = { bytes: sum.totalSize, at: Date.now() }
    return sum
  }
  const size = async (): Promise<number> => {
    if (cachedSize !== undefined && Date.now() - cachedSize.at < SIZE_TTL_MS)
      return cachedSize.bytes
    return (await stats()).totalSize
  }

  const write = async (
    path: ProjectPath,
    bytes: Uint8Array,
    { expected, mode }: WriteOptions,
  ): Promise<FileState> => {
    if (bytes.length > limits.fileWrite)
      throw appError('file_too_large_to_write', {
        path: path.text,
        size: sizeText(bytes.length),
        limit: sizeText(limits.fileWrite),
      })
    // All checks come before anything is created.
    const before = await stateAt(path)
    assertReplaceable(before, path, expected)
    const growth = bytes.length - (before?.size ?? 0)
    const used = await size()
    if (growth > 0 && used + growth > limits.project)
      throw appError('project_full', { limit: sizeText(limits.project) })
    // Released once the change is recorded with the project's new size.
    if (growth > 0) await options.storage.claim(options.userId, options.projectId, growth)
    return withPlace(root, path, { create: true }, async (place) => {
      // Preserves the execute bit, so that a script stays executable.
      const temporary = await stageBytes(
        staging,
        bytes,
        mode ?? 0o600 | ((before?.mode ?? 0) & 0o100),
      )
      try {
        await assertMayChange()
        // Checked again, because another program may have edited the file in the meantime.
        assertReplaceable(await statEntry(place.real), path, expected)
        await rename(temporary, place.real)
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      }
      await place.folder.handle.sync()
      cachedSize = { bytes: used + growth, at: cachedSize?.at ?? Date.now() }
      const after = await statEntry(place.real)
      if (after === null) throw appError('file_removed_while_written', { path: path.text })
      return after
    })
  }

  /** Removes an entry; a folder is moved out of the project at once and deleted in the background. */
  const remove = (path: ProjectPath, { deferSync = false }: DiskOptions = {}): Promise<void> =>
    withPlace(root, path, {}, async (place) => {
      const before = await lstat(place.real)
      if (!before.isDirectory()) {
        await unlink(place.real)
        if (cachedSize !== undefined) cachedSize.bytes -= before.isFile() ? before.size : 0
      } else {
        cachedSize = undefined
        await rmdir(place.real).catch(async (error: unknown) => {
          if (!['ENOTEMPTY', 'EEXIST'].includes(systemCode(error))) throw error
          const trash = join(staging, randomUUID())
          await rename(place.real, trash)
          // Not awaited; the next start removes what a crash leaves behind.
          rm(trash, { recursive: true, force: true, maxRetries: 2 }).catch(() => {})
        })
      }
      if (!deferSync) await place.folder.handle.sync()
    })

  return {
    userId: options.userId,
    projectId: options.projectId,
    root,
    limits,
    state: async (input) => {
      const path = parsePath(input)
      if (path.segments.length > 0) return stateAt(path)
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
    stats,
    write: async (input, bytes, writeOptions = {}) =>
      write(parseInnerPath(input), bytes, writeOptions),
    createFolder: async (input, diskOptions = {}) =>
      guarded(() => createFolder(root, parseInnerPath(input), diskOptions)),
    remove: async (input, diskOptions) => guarded(() => remove(parseInnerPath(input), diskOptions)),
    move: async (from, to) =>
      guarded(() => moveEntry(root, parseInnerPath(from), parseInnerPath(to))),
    removeEmptyFolder: async (input) =>
      guarded(() => removeEmptyFolder(root, parseInnerPath(input))),
    copyIn: async (input, source, mode, { deferSync = false } = {}) => {
      const path = parseInnerPath(input)
      const temporary = join(staging, randomUUID())
      try {
        await stageCopy(source, temporary, mode, deferSync)
        await withPlace(root, path, { create: true }, async (place) => {
          await assertMayChange()
          assertReplaceable(await statEntry(place.real), path, undefined)
          await rename(temporary, place.real)
          if (!deferSync) await place.folder.handle.sync()
        })
      } catch (error) {
        await rm(temporary, { force: true })
        throw toFileError(error, path.text)
      } finally {
        cachedSize = undefined
      }
    },
    createLink: async (input, target) =>
      guarded(() => createLink(root, parseInnerPath(input), target)),
    forgetSize: () => {
      cachedSize = undefined
    },
    guardChanges(check) {
      guard = check
      return () => {
        if (guard === check) guard = undefined
      }
    },
    assertMayChange,
  }
}
