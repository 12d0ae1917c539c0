// Snapshots of a whole project, for programs that may change anything. Uses synchronous I/O, so it runs in the worker thread
// only, while nothing else changes the project. Like git's index, it reads again only files whose stat has changed.
import { randomUUID } from 'node:crypto'
import {
  type BigIntStats,
  type Dirent,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { CheckpointFile, PathContent } from '../../../db/tables/projects/checkpoints.ts'
import { systemCode } from '../../../lib/system-faults.ts'
import { contentPath } from './content-store.ts'
import { captureEntry, scan, statKey, syncFile } from './scan-tree.ts'

// The index of a snapshot: what every path of a project held, so that the next snapshot only reads changed files. Runs in
// the worker thread only.

interface Known {
  content: PathContent
  /** Size, times and inode of the entry when `content` was read; '' means: read it again. */
  stat: string
  /** Whether its content is stored. The field names are part of the file format. */
  kept: boolean
}
/** What the last snapshot recorded of each file, by path, so that unchanged files need not be read again. */
type Index = Map<string, Known>

const VERSION = 1
const fileOf = (folder: string): string => join(folder, 'index.json')

/** Null if there is no readable index. Then nothing is known about the project, not even whether it was empty. */
function loadIndex(folder: string): Index | null {
  try {
    // Only `saveIndex` writes it, in a folder that belongs to the server.
    const saved = JSON.parse(readFileSync(fileOf(folder), 'utf8')) as {
      version: number
      entries: [string, Known][]
    }
    return saved.version === VERSION ? new Map(saved.entries) : null
  } catch {
    return null
  }
}

/** Replaces the index atomically and durably. */
function saveIndex(folder: string, index: Index): void {
  const temporary = join(folder, `index-${randomUUID()}`)
  const text = JSON.stringify({ version: VERSION, entries: [...index] })
  try {
    writeFileSync(temporary, text, { mode: 0o600, flush: true })
    renameSync(temporary, fileOf(folder))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Makes the next snapshot store everything again. */
const dropIndex = (folder: string): void => rmSync(fileOf(folder), { force: true })

/** The folders that a snapshot reads and writes. */
export interface SnapshotInput {
  /** The project's folder. */
  root: string
  /** The folder of the index. */
  folder: string
  /** The folder of stored contents. */
  contents: string
}

/** Changed files up to this size are hashed, so that a later comparison can tell whether they changed again. */
const HASHED_BYTES = 5 * 1024 * 1024

/**
 * Stores the contents of every file durably, so that the state can be restored. Returns the number of entries and
 * what they count. Cheap when little has changed since the last snapshot.
 */
export function createSnapshot(input: SnapshotInput): { entries: number; bytes: number } {
  const known = loadIndex(input.folder) ?? new Map()
  const index: Index = new Map()
  const copied: string[] = []
  mkdirSync(input.contents, { recursive: true, mode: 0o700 })
  const size = scan(input.root, (path, real, stats) => {
    const before = known.get(path)
    const stat = statKey(stats)
    if (before?.kept && before.stat === stat) {
      index.set(path, before)
      return
    }
    const content = captureEntry(real, stats, { contents: input.contents, copied })
    if (content !== null) index.set(path, { content, stat, kept: true })
  })
  // Synced together at the end, when the system has already written most of them.
  for (const path of copied) syncFile(path)
  saveIndex(input.folder, index)
  return size
}

/** What has changed in a whole project, how many entries it has now, and what they count. */
export interface SnapshotChanges {
  files: CheckpointFile[]
  bytes: number
  entries: number
}

/**
 * Returns what has changed since `createSnapshot`, sorted by path, and the size of everything now, even if the process died in
 * between. Without the index of that snapshot it reports no changes. Of more entries than a scan visits, those that are new
 * are removed: otherwise no change of the project could be recorded or undone any more. They count as entries, so that the
 * change is known to exceed the limit.
 */
export function compareSnapshot(input: SnapshotInput, maxEntries?: number): SnapshotChanges {
  const known = loadIndex(input.folder)
  if (known === null) return { files: [], bytes: 0, entries: 0 }
  const paths = new Set(known.keys())
  const takenAt = statSync(fileOf(input.folder)).mtimeMs
  const isBeyond = (path: string, real: string, { ctimeMs }: BigIntStats): boolean => {
    // The index lacks what has a name that cannot be stored.
    if (paths.has(path) || Number(ctimeMs) < takenAt) return false
    rmSync(real, { recursive: true, force: true })
    return true
  }
  const index: Index = new Map()
  const files: CheckpointFile[] = []
  const visit = (path: string, real: string, stats: BigIntStats): void => {
    const before = known.get(path)
    known.delete(path)
    const stat = statKey(stats)
    if (before !== undefined && before.stat === stat && stat !== '') {
      index.set(path, before)
      return
    }
    const content = captureEntry(real, stats, null, HASHED_BYTES)
    if (content === null) return
    const same = before !== undefined && isSame(before.content, content)
    index.set(path, { content, stat, kept: same && before.kept })
    if (same) return
    files.push(
      before === undefined
        ? { path, change: 'added', before: null, after: content }
        : { path, change: 'modified', before: before.content, after: content },
    )
  }
  const { bytes, entries } = scan(input.root, visit, {
    isBeyond,
    ...(maxEntries === undefined ? {} : { maxEntries }),
  })
  for (const [path, { content }] of known)
    files.push({ path, change: 'deleted', before: content, after: null })
  saveIndex(input.folder, index)
  return { files: files.sort((one, other) => (one.path < other.path ? -1 : 1)), bytes, entries }
}

/** Removes stored contents that neither `needed` nor the index refers to; returns the remaining bytes. */
export function collectContents(
  input: SnapshotInput & { needed: ReadonlySet<string>; maxBytes: number },
): { bytes: number } {
  const { needed } = input
  mkdirSync(input.contents, { recursive: true, mode: 0o700 })
  const index = loadIndex(input.folder)
  const indexed = new Set<string>()
  for (const { content } of index?.values() ?? [])
    if (content.kind === 'file') indexed.add(content.hash)
  const sizes = new Map<string, number>()
  for (const folder of readdirSync(input.contents, { withFileTypes: true })) {
    if (!folder.isDirectory()) {
      // An unfinished copy of a dead process.
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
  // Still too much: removes what only the index refers to; the next snapshot stores it again.
  for (const hash of indexed)
    if (!needed.has(hash)) {
      rmSync(contentPath(input.contents, hash), { force: true })
      sizes.delete(hash)
    }
  dropIndex(input.folder)
  return { bytes: total() }
}

/** The bytes of all stored contents in a folder; 0 when it does not exist. */
export function measureContents({ contents }: Pick<SnapshotInput, 'contents'>): { bytes: number } {
  let bytes = 0
  for (const folder of readdirIfThere(contents))
    if (folder.isDirectory())
      for (const { name } of readdirIfThere(join(contents, folder.name)))
        bytes += statSync(join(contents, folder.name, name), { throwIfNoEntry: false })?.size ?? 0
  return { bytes }
}

/** Another change may remove the folder in the meantime. */
function readdirIfThere(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}

const isSame = (one: PathContent, other: PathContent): boolean => {
  if (one.kind === 'file')
    return (
      other.kind === 'file' && one.hash !== '' && one.hash === other.hash && one.mode === other.mode
    )
  if (one.kind === 'link') return other.kind === 'link' && one.target === other.target
  return other.kind === 'directory'
}
