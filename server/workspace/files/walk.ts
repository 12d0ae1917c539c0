// Walks a project's tree, bounded in entries and depth. Lists links but never follows them.
import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, appError } from '../../errors.ts'
import { childPath, type OpenFolder, openFolder, PATH_LIMITS, type ProjectPath } from './paths.ts'

/** What is at a path. A link is never followed. */
export type EntryKind = 'file' | 'directory' | 'link' | 'other'

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
export interface WalkOptions {
  /** The walk ends after this many entries (`complete: false`). */
  maxEntries: number
  signal?: AbortSignal
  /** Awaited with the entries of each folder before they are visited. */
  enter?(folder: string, entries: readonly Entry[]): Promise<void>
  /** Folders for which this returns true are visited, but not entered. */
  skip?(entry: Entry): boolean
}

const STATS_IN_PARALLEL = 32

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
