// Scans a tree of a project with synchronous I/O. Runs in the worker thread only, while nothing else changes the project.
import { createHash, randomUUID } from 'node:crypto'
import {
  type BigIntStats,
  closeSync,
  constants as fs,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { PathContent } from '../../../db/tables/projects/checkpoints.ts'
import { appError } from '../../../errors.ts'
import { systemCode } from '../../../lib/system-faults.ts'
import { countedBytes } from '../../files/entries.ts'
import { childPath, FOLDER_FLAGS, HAS_DESCRIPTOR_PATHS, parseInnerPath } from '../../files/paths.ts'
import { contentPath } from './content-store.ts'

const MAX_ENTRIES = 200_000
const MAX_DEPTH = 64
const PIECE_BYTES = 1024 * 1024
/** A file changed this shortly before the scan may change again without a new timestamp. */
const RACY_MS = 50

const buffer = Buffer.allocUnsafe(PIECE_BYTES)

/** A folder that is being read. Names below `real` are in it even if a link replaces it meanwhile. */
interface HeldFolder {
  readonly real: string
  close(): void
}

/** @throws AppError `not_found` if it is no folder any more: another program has removed it, or swapped a link in. */
function holdFolder(real: string, path: string): HeldFolder {
  try {
    if (HAS_DESCRIPTOR_PATHS) {
      const descriptor = openSync(real, FOLDER_FLAGS)
      return { real: `/proc/self/fd/${descriptor}`, close: () => closeSync(descriptor) }
    }
    if (lstatSync(real).isDirectory()) return { real, close() {} }
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(systemCode(error))) throw error
  }
  throw appError('file_not_found', { path: path === '' ? '.' : path })
}

/** Steps down folder by folder, so that none of them can be a link. */
function holdBelow(root: string, path: string): HeldFolder {
  let held = holdFolder(root, '')
  let inner = ''
  for (const name of path === '' ? [] : path.split('/')) {
    inner = childPath(inner, name)
    const above = held
    try {
      held = holdFolder(join(above.real, name), inner)
    } finally {
      above.close()
    }
  }
  return held
}

/**
 * Visits every storable entry below the folder `start` of a project, each folder before its contents. Follows no link, also
 * none that replaces a folder meanwhile; `real` is valid during the visit. Returns how many entries there are and what they count,
 * including those that cannot be stored.
 * @param options.isBeyond called with each entry beyond `maxEntries`. If it returns true, the entry is not visited, nor what is in it.
 * @throws AppError `bad_request` beyond `maxEntries` without it, `not_found` if a folder disappears meanwhile.
 */
export function scan(
  root: string,
  visit: (path: string, real: string, stats: BigIntStats) => void,
  {
    start = '',
    maxEntries = MAX_ENTRIES,
    isBeyond,
  }: {
    start?: string
    maxEntries?: number
    isBeyond?: (path: string, real: string, stats: BigIntStats) => boolean
  } = {},
): { bytes: number; entries: number } {
  let entries = 0
  let bytes = 0
  const descend = (folder: HeldFolder, path: string, depth: number, storable: boolean): void => {
    try {
      for (const name of readdirSync(folder.real)) {
        const real = join(folder.real, name)
        const inner = childPath(path, name)
        const stats = lstatSync(real, { bigint: true, throwIfNoEntry: false })
        if (stats === undefined) continue
        if (++entries > maxEntries) {
          if (isBeyond === undefined) throw appError('too_many_changes', { limit: maxEntries })
          if (isBeyond(inner, real, stats)) continue
        }
        bytes += countedBytes(stats.isFile() ? 'file' : 'other', Number(stats.size))
        const isStorable = storable && hasValidName(inner)
        if (isStorable) visit(inner, real, stats)
        if (stats.isDirectory() && depth < MAX_DEPTH)
          descend(holdFolder(real, inner), inner, depth + 1, isStorable)
      }
    } finally {
      folder.close()
    }
  }
  descend(holdBelow(root, start), start, 0, true)
  return { bytes, entries }
}

/** Entries whose names the path rules reject could not be restored, so they are not stored. */
function hasValidName(path: string): boolean {
  try {
    return parseInnerPath(path).text === path
  } catch {
    return false
  }
}

/** Identity, size and times of an entry as one string; '' for a file so fresh that it may still change unnoticed. */
export function statKey(stats: BigIntStats): string {
  const fresh = Date.now() - Number(stats.mtimeNs / 1_000_000n) < RACY_MS
  if (fresh && stats.isFile()) return ''
  return [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs, stats.mode]
    .map((value) => value.toString(36))
    .join('-')
}

/** Where contents are copied to, and the copies made so far. */
export interface Copies {
  contents: string
  copied: string[]
}

/**
 * Captures the entry whose `stats` were just read. With `copies`, stores a copy of a file; without, only hashes it, or
 * returns the hash '' if it has more than `maxHashed` bytes. Returns null for pipes, sockets and devices.
 */
export function captureEntry(
  real: string,
  stats: BigIntStats,
  copies: Copies | null,
  maxHashed = Number.POSITIVE_INFINITY,
): PathContent | null {
  if (stats.isDirectory()) return { kind: 'directory' }
  if (stats.isSymbolicLink()) return { kind: 'link', target: readlinkSync(real) }
  if (!stats.isFile()) return null
  const mode = Number(stats.mode) & 0o777
  if (copies === null && stats.size > maxHashed)
    return { kind: 'file', hash: '', size: Number(stats.size), mode }
  const source = openSync(real, fs.O_RDONLY | (fs.O_NOFOLLOW ?? 0) | (fs.O_NONBLOCK ?? 0))
  try {
    if (!fstatSync(source).isFile()) return null
    const { hash, size } = copies === null ? readHash(source) : copyInto(copies, source)
    return { kind: 'file', hash, size, mode }
  } finally {
    closeSync(source)
  }
}

/** Waits until the content is on disk. Follows no link. */
export function syncFile(path: string): void {
  const file = openSync(path, fs.O_RDONLY | (fs.O_NOFOLLOW ?? 0) | (fs.O_NONBLOCK ?? 0))
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function readHash(
  source: number,
  onPiece?: (piece: Buffer) => void,
): { hash: string; size: number } {
  const hash = createHash('sha256')
  let size = 0
  for (;;) {
    const count = readSync(source, buffer, 0, PIECE_BYTES, size)
    if (count === 0) return { hash: hash.digest('hex'), size }
    size += count
    const piece = buffer.subarray(0, count)
    hash.update(piece)
    onPiece?.(piece)
  }
}

function copyInto({ contents, copied }: Copies, source: number): { hash: string; size: number } {
  const temporary = join(contents, `new-${randomUUID()}`)
  const copy = openSync(temporary, 'wx', 0o600)
  let found: { hash: string; size: number }
  try {
    found = readHash(source, (piece) => {
      for (let written = 0; written < piece.length; )
        written += writeSync(copy, piece, written, piece.length - written)
    })
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  } finally {
    closeSync(copy)
  }
  const target = contentPath(contents, found.hash)
  if (statSync(target, { throwIfNoEntry: false }) !== undefined) rmSync(temporary)
  else {
    mkdirSync(join(target, '..'), { recursive: true, mode: 0o700 })
    renameSync(temporary, target)
    copied.push(target)
  }
  return found
}

/** Syncs these paths of a project and their folders to the disk; skips missing ones. */
export function syncPaths({ root, paths }: { root: string; paths: readonly string[] }): null {
  const folders = paths.map((path) => path.slice(0, Math.max(0, path.lastIndexOf('/'))))
  for (const path of new Set([...paths, ...folders])) {
    try {
      syncFile(join(root, path))
    } catch (error) {
      if (!['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'].includes(systemCode(error))) throw error
    }
  }
  return null
}
