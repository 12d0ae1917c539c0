// One project's folder: reading, listing and single changes, atomic and within limits. Changes of users and tools go
// through `checkpoints/`, which orders them and makes them reversible.
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
import { explainFault, sizeText, systemCode } from './files/faults.ts'
import {
  checkTarget,
  type FileContent,
  type FileState,
  look,
  readWhole,
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

/** Bytes. */
export interface WorkspaceLimits {
  fileRead: number
  fileWrite: number
  project: number
}

export interface WorkspaceStats {
  files: number
  directories: number
  totalSize: number
}

export interface Workspace {
  readonly userId: UserId
  readonly projectId: ProjectId
  /** The folder on the host, for programs that run in it; never shown to anybody. */
  readonly root: string
  readonly limits: WorkspaceLimits
  /** What is at `path`, or null when there is nothing. Links are not followed. */
  state(path: string): Promise<FileState | null>
  /** The whole file, at most `limits.fileRead` (or `maxBytes`). Throws `not_found`, `file_too_large`, `path_escapes`. */
  read(path: string, maxBytes?: number): Promise<FileContent>
  /** A file of any size as a stream of its bytes, which the caller reads or destroys. */
  download(path: string): Promise<{ size: number; stream: Readable }>
  /** The entries of one folder, sorted by name. */
  list(path: string): Promise<Entry[]>
  stats(): Promise<WorkspaceStats>
  /**
   * Writes `bytes` to `path` atomically, creating missing folders. Throws `file_changed` when `expected` is
   * given and is not the version there ('' expects that there is nothing), `file_too_large`, `project_full`,
   * `quota_exceeded`, `store_full`, `conflict` when a folder is there.
   */
  write(path: string, bytes: Uint8Array, options?: WriteOptions): Promise<FileState>
  /** Creates a folder and its missing parents. Resolves with false when it existed already. */
  makeFolder(path: string, options?: DiskOptions): Promise<boolean>
  /** Removes a file, a link (not its target) or a folder with everything in it, atomically. */
  remove(path: string, options?: DiskOptions): Promise<void>
  /** Renames, creating missing folders; throws `conflict` when there is something at `to`. */
  move(from: string, to: string): Promise<void>
  /** Removes an empty folder; resolves with false when it is not empty or not a folder. */
  removeEmptyFolder(path: string): Promise<boolean>
  /** Copies the host file `source` to `path` atomically, for restoring stored contents. */
  copyIn(path: string, source: string, mode: number, options?: DiskOptions): Promise<void>
  /** Creates a symbolic link, which nothing here follows, for restoring one. */
  makeLink(path: string, target: string): Promise<void>
  /** Forgets the known size of the project, after something else changed it. */
  forgetSize(): void
}

export interface WriteOptions {
  expected?: string
  /** Permission bits to set; without it those of the file before, else 0600. */
  mode?: number
}

/** Entries of a folder or a project beyond these are left out. */
const LIST_LIMIT = 10_000
const WALK_LIMIT = 200_000
/** A project's size is measured again after this. */
const SIZE_FRESH_MS = 10 * 60_000

export function createWorkspace(options: {
  userId: UserId
  projectId: ProjectId
  root: string
  /** A folder on the same file system, for files that are being written and trees that are being removed. */
  staging: string
  limits: WorkspaceLimits
  storage: StorageQuota
}): Workspace {
  const { root, staging, limits } = options
  let known: { bytes: number; at: number } | undefined

  const stateAt = async (path: ProjectPath): Promise<FileState | null> => {
    try {
      return await withPlace(root, path, {}, ({ real }) => look(real))
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
    known = { bytes: sum.totalSize, at: Date.now() }
    return sum
  }
  const size = async (): Promise<number> => {
    if (known !== undefined && Date.now() - known.at < SIZE_FRESH_MS) return known.bytes
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
    // Everything that can be refused is refused before anything is created.
    const before = await stateAt(path)
    checkTarget(before, path, expected)
    const grows = bytes.length - (before?.size ?? 0)
    const used = await size()
    if (grows > 0 && used + grows > limits.project)
      throw appError('project_full', { limit: sizeText(limits.project) })
    // Released when the change is recorded with the project's new size.
    if (grows > 0) await options.storage.claim(options.userId, options.projectId, grows)
    return withPlace(root, path, { create: true }, async (place) => {
      // The execute bit is preserved, so that a script stays executable.
      const temporary = await stageBytes(
        staging,
        bytes,
        mode ?? 0o600 | ((before?.mode ?? 0) & 0o100),
      )
      try {
        // Checked again, because somebody else may have edited the file during the write.
        checkTarget(await look(place.real), path, expected)
        await rename(temporary, place.real)
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      }
      await place.folder.handle.sync()
      known = { bytes: used + grows, at: known?.at ?? Date.now() }
      const after = await look(place.real)
      if (after === null) throw appError('file_removed_while_written', { path: path.text })
      return after
    })
  }

  /** Moves a folder out of the project at once and empties it afterwards. */
  const remove = (path: ProjectPath, { later = false }: DiskOptions = {}): Promise<void> =>
    withPlace(root, path, {}, async (place) => {
      const before = await lstat(place.real)
      if (!before.isDirectory()) {
        await unlink(place.real)
        if (known !== undefined) known.bytes -= before.isFile() ? before.size : 0
      } else {
        known = undefined
        await rmdir(place.real).catch(async (error: unknown) => {
          if (!['ENOTEMPTY', 'EEXIST'].includes(systemCode(error))) throw error
          const grave = join(staging, randomUUID())
          await rename(place.real, grave)
          // Not awaited; what a crash leaves behind is removed at the next start.
          rm(grave, { recursive: true, force: true, maxRetries: 2 }).catch(() => {})
        })
      }
      if (!later) await place.folder.handle.sync()
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
    makeFolder: async (input, diskOptions = {}) =>
      createFolder(root, parseInnerPath(input), diskOptions),
    remove: async (input, diskOptions) => remove(parseInnerPath(input), diskOptions),
    move: async (from, to) => moveEntry(root, parseInnerPath(from), parseInnerPath(to)),
    removeEmptyFolder: async (input) => removeEmptyFolder(root, parseInnerPath(input)),
    copyIn: async (input, source, mode, { later = false } = {}) => {
      const path = parseInnerPath(input)
      const temporary = join(staging, randomUUID())
      try {
        await stageCopy(source, temporary, mode, later)
        await withPlace(root, path, { create: true }, async (place) => {
          checkTarget(await look(place.real), path, undefined)
          await rename(temporary, place.real)
          if (!later) await place.folder.handle.sync()
        })
      } catch (error) {
        await rm(temporary, { force: true })
        throw explainFault(error, path.text)
      } finally {
        known = undefined
      }
    },
    makeLink: async (input, target) => createLink(root, parseInnerPath(input), target),
    forgetSize: () => {
      known = undefined
    },
  }
}
