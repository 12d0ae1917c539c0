// Walking a project's tree, folder by held folder, bounded in entries and depth; links are seen, never followed.
import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, appError } from '../../errors.ts'
import { childPath, type HeldFolder, holdFolder, type ProjectPath, pathLimits } from './paths.ts'

export type EntryKind = 'file' | 'directory' | 'link' | 'other'

export interface Entry {
  readonly path: string
  readonly name: string
  readonly kind: EntryKind
  /** Bytes; 0 for what is no file. */
  readonly size: number
  /** When its content, its rights or its place last changed, in milliseconds. */
  readonly changedAt: number
}

export interface WalkOptions {
  /** More entries than this end the walk (`complete: false`). */
  maxEntries: number
  signal?: AbortSignal
  /** Awaited with the entries of each folder before they are told of. */
  enter?(folder: string, entries: readonly Entry[]): Promise<void>
  /** Folders for which this answers true are told of, but not gone into. */
  skip?(entry: Entry): boolean
}

const LOOKS_AT_ONCE = 32

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

/** The entries of one held folder, sorted by name, at most `limit` of them. */
export async function readFolder(
  folder: HeldFolder,
  path: string,
  limit: number,
): Promise<{ entries: Entry[]; complete: boolean }> {
  const names: string[] = []
  let complete = true
  // Leaving the loop early closes the directory too.
  for await (const entry of await opendir(folder.real, { bufferSize: 256 })) {
    if (names.length >= limit) {
      complete = false
      break
    }
    names.push(entry.name)
  }
  names.sort()
  const entries: Entry[] = []
  for (let start = 0; start < names.length; start += LOOKS_AT_ONCE) {
    const some = await Promise.all(
      names.slice(start, start + LOOKS_AT_ONCE).map(async (name): Promise<Entry | null> => {
        // An entry that went away meanwhile is simply not there.
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

/** Tells every entry below `start`, a folder before what is in it. Throws `AppError` when `start` is no folder. */
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
    const folder = await holdFolder(root, segments)
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
      if (depth >= 2 * pathLimits.depth) {
        complete = false
        continue
      }
      try {
        await descend([...segments, entry.name], depth + 1)
      } catch (error) {
        // A folder removed, or made a link, since it was seen: not part of the tree any more.
        if (!(error instanceof AppError) || (error.status !== 404 && error.status !== 403))
          throw error
      }
    }
  }
  await descend(start.segments, 0)
  return { complete }
}
