// The whole project before and after a program that may change anything. Runs in the worker thread only (it waits for the
// disk), while nothing else changes the project. Like git's index, it looks again only at files whose stat has changed.
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
import type { CheckpointFile, PathContent } from '../db/tables/projects.ts'
import { contentPath } from './kept-content.ts'
import { parseInnerPath } from './paths.ts'
import { dropIndex, type Index, loadIndex, saveIndex } from './snapshot-index.ts'

export interface SnapshotInput {
  /** The project's folder. */
  root: string
  /** Where the index is kept. */
  folder: string
  /** Where contents are kept. */
  contents: string
}

const MAX_ENTRIES = 200_000
const MAX_DEPTH = 64
const PIECE = 1024 * 1024
/** Files changed this shortly before they are looked at may change again without a new time stamp. */
const RACY_MS = 50
/** A changed file up to this size is hashed, so that a later comparison can tell whether it is still the same. */
const HASHED_BYTES = 5 * 1024 * 1024

const buffer = Buffer.allocUnsafe(PIECE)

/**
 * Keeps what every file holds, on the disk, so that the state can be restored; answers the number of paths and the bytes
 * of all files. Cheap when little has changed since the last time.
 */
export function takeSnapshot(input: SnapshotInput): { paths: number; bytes: number } {
  const known = loadIndex(input.folder) ?? new Map()
  const index: Index = new Map()
  const copied: string[] = []
  mkdirSync(input.contents, { recursive: true, mode: 0o700 })
  const { bytes } = scan(input.root, (path, real, stats) => {
    const before = known.get(path)
    const stat = statKey(stats)
    if (before?.kept && before.stat === stat) {
      index.set(path, before)
      return
    }
    const content = lookAt(real, stats, { contents: input.contents, copied })
    if (content !== null) index.set(path, { content, stat, kept: true })
  })
  // Together at the end, when the system has written most of it already.
  for (const path of copied) forceToDisk(path)
  saveIndex(input.folder, index)
  return { paths: index.size, bytes }
}

/**
 * What has changed since `takeSnapshot`, sorted by path, and the bytes of all files now. Also right when the process died
 * in between. Without the index of that snapshot nothing is known, and nothing is told.
 */
export function compareSnapshot(input: SnapshotInput): { files: CheckpointFile[]; bytes: number } {
  const known = loadIndex(input.folder)
  if (known === null) return { files: [], bytes: 0 }
  const index: Index = new Map()
  const files: CheckpointFile[] = []
  const { bytes } = scan(input.root, (path, real, stats) => {
    const before = known.get(path)
    known.delete(path)
    const stat = statKey(stats)
    if (before !== undefined && before.stat === stat && stat !== '') {
      index.set(path, before)
      return
    }
    const content = lookAt(real, stats, null)
    if (content === null) return
    const same = before !== undefined && isSame(before.content, content)
    index.set(path, { content, stat, kept: same && before.kept })
    if (same) return
    files.push(
      before === undefined
        ? { path, change: 'added', before: null, after: content }
        : { path, change: 'modified', before: before.content, after: content },
    )
  })
  for (const [path, { content }] of known)
    files.push({ path, change: 'deleted', before: content, after: null })
  saveIndex(input.folder, index)
  return { files: files.sort((one, other) => (one.path < other.path ? -1 : 1)), bytes }
}

/** Removes kept contents that neither `needed` nor the index names; answers the bytes that stay. */
export function collectContents(
  input: SnapshotInput & { needed: readonly string[]; maxBytes: number },
): { bytes: number } {
  const needed = new Set(input.needed)
  mkdirSync(input.contents, { recursive: true, mode: 0o700 })
  const index = loadIndex(input.folder)
  const indexed = new Set<string>()
  for (const { content } of index?.values() ?? [])
    if (content.kind === 'file') indexed.add(content.hash)
  const sizes = new Map<string, number>()
  for (const folder of readdirSync(input.contents, { withFileTypes: true })) {
    if (!folder.isDirectory()) {
      // A copy that a dead process did not finish.
      rmSync(join(input.contents, folder.name), { force: true })
      continue
    }
    for (const name of readdirSync(join(input.contents, folder.name))) {
      const hash = folder.name + name
      const path = contentPath(input.contents, hash)
      if (needed.has(hash) || indexed.has(hash)) sizes.set(hash, statSync(path).size)
      else rmSync(path, { force: true })
    }
  }
  const total = () => [...sizes.values()].reduce((sum, size) => sum + size, 0)
  if (total() <= input.maxBytes) return { bytes: total() }
  // Too much: what only the index names goes too, and is kept anew when the next program runs.
  for (const hash of indexed)
    if (!needed.has(hash)) {
      rmSync(contentPath(input.contents, hash), { force: true })
      sizes.delete(hash)
    }
  dropIndex(input.folder)
  return { bytes: total() }
}

/** Tells of every entry that can be kept; answers the bytes of all files, of those that cannot be kept too. */
function scan(
  root: string,
  visit: (path: string, real: string, stats: BigIntStats) => void,
): { bytes: number } {
  let entries = 0
  let bytes = 0
  const descend = (folder: string, path: string, depth: number, told: boolean): void => {
    for (const name of readdirSync(folder)) {
      const real = join(folder, name)
      const inner = path === '' ? name : `${path}/${name}`
      const stats = lstatSync(real, { bigint: true, throwIfNoEntry: false })
      if (stats === undefined) continue
      if (++entries > MAX_ENTRIES)
        throw new Error(
          `A project may have at most ${MAX_ENTRIES} files for a program to run in it.`,
        )
      if (stats.isFile()) bytes += Number(stats.size)
      const keepable = told && isSpellable(inner)
      if (keepable) visit(inner, real, stats)
      if (stats.isDirectory() && depth < MAX_DEPTH) descend(real, inner, depth + 1, keepable)
    }
  }
  descend(root, '', 0, true)
  return { bytes }
}

/** Only names that can be given back by our own rules are kept. */
function isSpellable(path: string): boolean {
  try {
    return parseInnerPath(path).text === path
  } catch {
    return false
  }
}

function statKey(stats: BigIntStats): string {
  const fresh = Date.now() - Number(stats.mtimeNs / 1_000_000n) < RACY_MS
  if (fresh && stats.isFile()) return ''
  return [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs, stats.mode]
    .map((value) => value.toString(36))
    .join('-')
}

/** Where contents are copied to, and which copies were made. */
interface Copies {
  contents: string
  copied: string[]
}

/** With `copies` the file is copied; without, it is only hashed, and not even that when it is large. */
function lookAt(real: string, stats: BigIntStats, copies: Copies | null): PathContent | null {
  if (stats.isDirectory()) return { kind: 'directory' }
  if (stats.isSymbolicLink()) return { kind: 'link', target: readlinkSync(real) }
  if (!stats.isFile()) return null
  const mode = Number(stats.mode) & 0o777
  if (copies === null && stats.size > HASHED_BYTES)
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

function forceToDisk(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function readHash(source: number, take?: (piece: Buffer) => void): { hash: string; size: number } {
  const hash = createHash('sha256')
  let size = 0
  for (;;) {
    const count = readSync(source, buffer, 0, PIECE, size)
    if (count === 0) return { hash: hash.digest('hex'), size }
    size += count
    const piece = buffer.subarray(0, count)
    hash.update(piece)
    take?.(piece)
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

const isSame = (one: PathContent, other: PathContent): boolean => {
  if (one.kind === 'file')
    return (
      other.kind === 'file' && one.hash !== '' && one.hash === other.hash && one.mode === other.mode
    )
  if (one.kind === 'link') return other.kind === 'link' && one.target === other.target
  return other.kind === 'directory'
}
