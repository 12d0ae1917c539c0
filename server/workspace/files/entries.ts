// The entries of a project: their state, reading them, listing and walking folders, and changes that touch no content.

import type { BigIntStats } from 'node:fs'
import { lstat, mkdir, opendir, rename, rmdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, appError } from '../../errors.ts'
import { sizeText } from '../../lib/size-text.ts'
import { systemCode } from '../../lib/system-faults.ts'
import {
  childPath,
  linkRefused,
  notRegular,
  type OpenFolder,
  type OpenPlace,
  openFolder,
  openRegularFile,
  PATH_LIMITS,
  type ProjectPath,
  withPlace,
} from './paths.ts'

/** What is at a path. A link is never followed. */
type EntryKind = 'file' | 'directory' | 'link' | 'other'

const kindOf = (entry: {
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
}): EntryKind =>
  entry.isFile()
    ? 'file'
    : entry.isDirectory()
      ? 'directory'
      : entry.isSymbolicLink()
        ? 'link'
        : 'other'

/** What a folder, a link or a short file counts at least, so that many of them count, too. */
export const ENTRY_BYTES = 256

/** The bytes that an entry counts. @param size the bytes of a file. */
export const countedBytes = (kind: EntryKind, size: number): number =>
  kind === 'file' ? Math.max(size, ENTRY_BYTES) : ENTRY_BYTES

/** What is known of a file without reading it. */
export interface FileState {
  kind: EntryKind
  /** Bytes. */
  size: number
  /** Changes with every change of the file. A writer sends it back to prove that it has seen the current content. */
  version: string
  /** Permission bits. */
  mode: number
}

/** The bytes of a file, with the state in which they were read. */
export interface FileContent {
  bytes: Buffer
  state: FileState
}

/** Whether two versions are of the same file with the same content, which may have another name now. */
export const isSameContent = (version: string, other: string): boolean =>
  version.slice(0, version.lastIndexOf('-')) === other.slice(0, other.lastIndexOf('-'))

/** The result of a stat call as a `FileState`. */
export const stateOf = (stats: BigIntStats): FileState => ({
  kind: kindOf(stats),
  size: Number(stats.size),
  // The last part also changes when the file is renamed.
  version: [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs]
    .map((n) => n.toString(36))
    .join('-'),
  mode: Number(stats.mode) & 0o777,
})

/** The state of a real path, without following links; null when nothing is there. */
export const statEntry = async (real: string): Promise<FileState | null> => {
  try {
    return stateOf(await lstat(real, { bigint: true }))
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null
    throw error
  }
}

/** Reads a regular file of at most `maxBytes`. Throws `file_too_large`, and what `openRegularFile` throws. */
export async function readWhole(
  place: OpenPlace,
  path: ProjectPath,
  maxBytes: number,
): Promise<FileContent> {
  const handle = await openRegularFile(place, path)
  try {
    const state = stateOf(await handle.stat({ bigint: true }))
    const tooLarge = () =>
      appError(
        'file_too_large',
        { path: path.text, size: sizeText(state.size), limit: sizeText(maxBytes) },
        { details: { size: state.size, limit: maxBytes } },
      )
    if (state.size > maxBytes) throw tooLarge()
    // Reads one byte more than expected, to detect a growing file instead of reading it forever.
    const buffer = Buffer.allocUnsafe(state.size + 1)
    let length = 0
    while (length < buffer.length) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    if (length > state.size) throw appError('file_changed_while_read', { path: path.text })
    return { bytes: buffer.subarray(0, length), state }
  } finally {
    await handle.close()
  }
}

/** Throws unless the target is a file of the version that the writer expects, or does not exist. */
export function assertReplaceable(
  before: FileState | null,
  path: ProjectPath,
  expected: string | undefined,
): void {
  if (before?.kind === 'link') throw linkRefused(path.text)
  if (before?.kind === 'directory') throw appError('folder_takes_no_file', { path: path.text })
  if (before?.kind === 'other') throw notRegular(path.text)
  if (expected !== undefined && expected !== (before?.version ?? ''))
    throw appError(
      before === null
        ? 'file_deleted_meanwhile'
        : expected === ''
          ? 'file_created_meanwhile'
          : 'file_changed_meanwhile',
      { path: path.text },
      { details: { version: before?.version ?? null } },
    )
}

// Lists and walks trees, bounded in entries and depth: links are listed, but never followed.

/** A file, folder or link that a walk has found. */
export interface Entry {
  readonly path: string
  readonly name: string
  readonly kind: EntryKind
  /** Bytes; 0 for anything but files. */
  readonly size: number
  /** When its content, metadata or name last changed (ctime), in milliseconds since the epoch. */
  readonly changedAt: number
}

/** How far a walk goes. */
interface WalkOptions {
  /** The walk ends after this many entries (`complete: false`). */
  maxEntries: number
  signal?: AbortSignal
  /** Awaited with the entries of each folder before they are visited. */
  enter?(folder: string, entries: readonly Entry[]): Promise<void>
  /** Folders for which this returns true are visited, but not entered. */
  skip?(entry: Entry): boolean
}

const STATS_IN_PARALLEL = 32

/** The entries of one open folder, sorted by name, at most `limit` of them. */
export async function readFolder(
  folder: OpenFolder,
  path: string,
  limit: number,
): Promise<{ entries: Entry[]; complete: boolean }> {
  const names: string[] = []
  let complete = true
  // Breaking out of the loop also closes the directory.
  for await (const entry of await opendir(folder.real, { bufferSize: 256 })) {
    if (names.length >= limit) {
      complete = false
      break
    }
    names.push(entry.name)
  }
  names.sort()
  const entries: Entry[] = []
  for (let start = 0; start < names.length; start += STATS_IN_PARALLEL) {
    const some = await Promise.all(
      names.slice(start, start + STATS_IN_PARALLEL).map(async (name): Promise<Entry | null> => {
        // An entry that was removed in the meantime is skipped.
        const stats = await lstat(join(folder.real, name)).catch(() => null)
        if (stats === null) return null
        const kind = kindOf(stats)
        const size = kind === 'file' ? stats.size : 0
        return { path: childPath(path, name), name, kind, size, changedAt: stats.ctimeMs }
      }),
    )
    for (const entry of some) if (entry !== null) entries.push(entry)
  }
  return { entries, complete }
}

/** Visits every entry below `start`, each folder before its contents. Throws `AppError` when `start` is not a folder. */
export async function walk(
  root: string,
  start: ProjectPath,
  options: WalkOptions,
  visit: (entry: Entry) => void,
): Promise<{ complete: boolean }> {
  let left = options.maxEntries
  let complete = true
  const descend = async (segments: readonly string[], depth: number): Promise<void> => {
    if (options.signal?.aborted) throw appError('request_stopped')
    const folder = await openFolder(root, segments)
    const path = segments.join('/')
    const here = await readFolder(folder, path, left).finally(() => folder.close())
    if (!here.complete) complete = false
    await options.enter?.(path, here.entries)
    for (const entry of here.entries) {
      if (left <= 0) {
        complete = false
        return
      }
      left--
      visit(entry)
      if (entry.kind !== 'directory' || options.skip?.(entry)) continue
      if (depth >= 2 * PATH_LIMITS.depth) {
        complete = false
        continue
      }
      try {
        await descend([...segments, entry.name], depth + 1)
      } catch (error) {
        // The folder was removed, or replaced by a link, since it was listed: no longer part of the tree.
        if (!(error instanceof AppError) || (error.status !== 404 && error.status !== 403))
          throw error
      }
    }
  }
  await descend(start.segments, 0)
  return { complete }
}

// Changes of single entries that touch no file content: folders, links, renames.

/** How a change is written to the disk. */
export interface DiskOptions {
  /** Set if the caller syncs many changes together (job `sync_paths`) instead of each one. */
  deferSync?: boolean
}

/** Creates a folder and its missing parents. Resolves with false when it already exists. */
export const createFolder = (
  root: string,
  path: ProjectPath,
  { deferSync = false }: DiskOptions,
): Promise<boolean> =>
  withPlace(root, path, { create: true }, async (place) => {
    const before = await statEntry(place.real)
    if (before?.kind === 'directory') return false
    if (before?.kind === 'link') throw linkRefused(path.text)
    await mkdir(place.real, { mode: 0o700 })
    if (!deferSync) await place.folder.handle.sync()
    return true
  })

/** A path as a disk that ignores case and Unicode normalization compares it. */
const folded = ({ text }: ProjectPath): string => text.normalize('NFC').toLowerCase()

/** Renames an entry, creating missing folders. Throws `conflict` when something is at `to`. */
export async function moveEntry(root: string, from: ProjectPath, to: ProjectPath): Promise<void> {
  if (to.text === from.text) return
  if (to.text.startsWith(`${from.text}/`)) throw appError('folder_into_itself')
  await withPlace(root, from, {}, async (source) => {
    // Checked before the target's folders are created, so that a failure leaves nothing behind.
    const moved = await statEntry(source.real)
    if (moved === null) throw appError('file_not_found', { path: from.text })
    await withPlace(root, to, { create: true }, async (target) => {
      const there = await statEntry(target.real)
      // On a disk where both spellings are one name, the entry itself is found at the target.
      const isItself = there?.version === moved.version && folded(from) === folded(to)
      if (there !== null && !isItself) throw appError('path_taken', { path: to.text })
      await rename(source.real, target.real)
      await target.folder.handle.sync()
      await source.folder.handle.sync()
    })
  })
}

/** Removes an empty folder; resolves with false when it is not empty or not a folder. */
export const removeEmptyFolder = (root: string, path: ProjectPath): Promise<boolean> =>
  withPlace(root, path, {}, async (place) => {
    try {
      await rmdir(place.real)
    } catch (error) {
      if (['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(systemCode(error))) return false
      throw error
    }
    await place.folder.handle.sync()
    return true
  })

/** Creates a symbolic link; nothing in this module follows it. */
export const createLink = (root: string, path: ProjectPath, target: string): Promise<void> =>
  withPlace(root, path, { create: true }, async (place) => {
    await symlink(target, place.real)
    await place.folder.handle.sync()
  })
