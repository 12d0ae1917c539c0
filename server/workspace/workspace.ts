// One project's folder: reading, listing and the bare changes (atomic, within limits). Whoever changes goes through
// `checkpoints.ts`, which adds order and the way back.
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  open,
  rename,
  rm,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { AppError, appError } from '../errors.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import { explainFault, linkRefused, sizeText, systemCode } from './files/faults.ts'
import {
  checkTarget,
  type FileContent,
  type FileState,
  look,
  readWhole,
  stateOf,
} from './files/file-state.ts'
import {
  openRegularFile,
  type ProjectPath,
  parseInnerPath,
  parsePath,
  withFolder,
  withPlace,
} from './files/paths.ts'
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
  /** The real folder, for programs that run in it; never shown to anybody. */
  readonly root: string
  readonly limits: WorkspaceLimits
  /** What is at `path`, or null when there is nothing. A link is told as a link. */
  state(path: string): Promise<FileState | null>
  /** The whole file, at most `limits.fileRead` (or `maxBytes`). Throws `not_found`, `file_too_large`, `path_escapes`. */
  read(path: string, maxBytes?: number): Promise<FileContent>
  /** A file of any size as a stream of its bytes. Whoever asks reads or destroys the stream. */
  download(path: string): Promise<{ size: number; stream: Readable }>
  /** The entries of one folder, sorted by name. */
  list(path: string): Promise<Entry[]>
  stats(): Promise<WorkspaceStats>
  /**
   * Puts `bytes` at `path`, whole or not at all, making missing folders. Throws `file_changed` when `expected` is
   * given and is not the version there ('' expects that there is nothing), `file_too_large`, `project_full`,
   * `quota_exceeded`, `store_full`, `conflict` when a folder is there.
   */
  write(path: string, bytes: Uint8Array, options?: WriteOptions): Promise<FileState>
  /** Makes a folder and the missing ones above. Answers false when it was there already. */
  makeFolder(path: string, options?: DiskOptions): Promise<boolean>
  /** Removes a file, a link (not what it points at) or a folder with all that is in it, at once. */
  remove(path: string, options?: DiskOptions): Promise<void>
  /** Renames; throws `conflict` when there is something at `to`. Makes missing folders. */
  move(from: string, to: string): Promise<void>
  /** Removes a folder that holds nothing; answers false when it holds something or is none. */
  removeEmptyFolder(path: string): Promise<boolean>
  /** Puts a copy of the host file `source` at `path`, whole or not at all; for giving back what was kept. */
  copyIn(path: string, source: string, mode: number, options?: DiskOptions): Promise<void>
  /** Makes a symbolic link (which nothing here ever follows); for giving back what was there. */
  makeLink(path: string, target: string): Promise<void>
  /** Forgets the known size of the project, after something else has changed it. */
  forgetSize(): void
}

export interface DiskOptions {
  /** The caller forces many changes to the disk together (the job `force_paths`) instead of each by itself. */
  later?: boolean
}

export interface WriteOptions {
  expected?: string
  /** Permission bits to set; without it those of the file before, else 0600. */
  mode?: number
}

/** More entries than this in a folder or a project are not told of. */
const LIST_LIMIT = 10_000
const WALK_LIMIT = 200_000
/** A size found longer ago is measured again. */
const SIZE_FRESH_MS = 10 * 60_000

/** How a disk that ignores case and Unicode forms reads a path. */
const folded = ({ text }: ProjectPath): string => text.normalize('NFC').toLowerCase()

export function createWorkspace(options: {
  userId: UserId
  projectId: ProjectId
  root: string
  /** A folder on the same file system, for files that are not whole yet and trees on their way out. */
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

  /** Writes the bytes beside the project and makes them durable; the caller moves the file to its place or removes it. */
  const stage = async (bytes: Uint8Array, mode: number): Promise<string> => {
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
    // All that can be refused is refused before anything is made.
    const before = await stateAt(path)
    checkTarget(before, path, expected)
    const grows = bytes.length - (before?.size ?? 0)
    const used = await size()
    if (grows > 0 && used + grows > limits.project)
      throw appError('project_full', { limit: sizeText(limits.project) })
    // Given back when the change has been settled with the project's new size.
    if (grows > 0) await options.storage.claim(options.userId, options.projectId, grows)
    return withPlace(root, path, { create: true }, async (place) => {
      // The owner's execute bit is kept, so that a script stays one.
      const temporary = await stage(bytes, mode ?? 0o600 | ((before?.mode ?? 0) & 0o100))
      try {
        // Looked at again, since writing took a while: an edit by somebody else in between is not written over.
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

  /** Moves the entry out of the project at once; what it held is removed afterwards. */
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
          // Emptied without waiting for it; what a crash leaves is swept at the next start.
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
      return withPlace(root, path, {}, async (place) => {
        const handle = await openRegularFile(place, path)
        const { size: length } = await handle.stat()
        // Ends where the file ended when it was opened, so that the announced length holds. An empty file has no last byte.
        if (length > 0)
          return { size: length, stream: handle.createReadStream({ end: length - 1 }) }
        await handle.close()
        return { size: 0, stream: Readable.from([]) }
      })
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
    makeFolder: async (input, { later = false } = {}) => {
      const path = parseInnerPath(input)
      return withPlace(root, path, { create: true }, async (place) => {
        const before = await look(place.real)
        if (before?.kind === 'directory') return false
        if (before?.kind === 'link') throw linkRefused(path.text)
        await mkdir(place.real, { mode: 0o700 })
        if (!later) await place.folder.handle.sync()
        return true
      })
    },
    remove: async (input, diskOptions) => remove(parseInnerPath(input), diskOptions),
    move: async (fromInput, toInput) => {
      const from = parseInnerPath(fromInput)
      const to = parseInnerPath(toInput)
      if (to.text === from.text) return
      if (to.text.startsWith(`${from.text}/`)) throw appError('folder_into_itself')
      await withPlace(root, from, {}, async (source) => {
        // Looked at before the folders of the target are made, so that a failure leaves nothing behind.
        const moved = await look(source.real)
        if (moved === null) throw appError('file_not_found', { path: from.text })
        await withPlace(root, to, { create: true }, async (target) => {
          const there = await look(target.real)
          // Where the disk takes both spellings for one name, the entry itself is what is there.
          const isItself = there?.version === moved.version && folded(from) === folded(to)
          if (there !== null && !isItself) throw appError('path_taken', { path: to.text })
          await rename(source.real, target.real)
          await target.folder.handle.sync()
          await source.folder.handle.sync()
        })
      })
    },
    removeEmptyFolder: async (input) => {
      const path = parseInnerPath(input)
      return withPlace(root, path, {}, async (place) => {
        try {
          await rmdir(place.real)
        } catch (error) {
          if (['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(systemCode(error))) return false
          throw error
        }
        await place.folder.handle.sync()
        return true
      })
    },
    copyIn: async (input, source, mode, { later = false } = {}) => {
      const path = parseInnerPath(input)
      const temporary = join(staging, randomUUID())
      try {
        await copyFile(source, temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
        await chmod(temporary, mode)
        if (!later) {
          const handle = await open(temporary, 'r')
          await handle.sync().finally(() => handle.close())
        }
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
    makeLink: async (input, target) => {
      const path = parseInnerPath(input)
      await withPlace(root, path, { create: true }, async (place) => {
        await symlink(target, place.real)
        await place.folder.handle.sync()
      })
    },
    forgetSize: () => {
      known = undefined
    },
  }
}
