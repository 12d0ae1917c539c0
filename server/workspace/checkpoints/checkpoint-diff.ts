// What a checkpoint's change did, or what has become of the project since, as differences for a person.
import type { CheckpointRepository } from '../../db/repositories/checkpoints.ts'
import type { CheckpointFile, PathContent } from '../../db/tables/projects.ts'
import { AppError, appError } from '../../errors.ts'
import { binaryKind, decodeText } from '../files/text.ts'
import type { WorkerPool } from '../worker/worker-pool.ts'
import type { Workspace } from '../workspace.ts'
import type { Checkpoints } from './checkpoints.ts'
import type { KeptContent } from './content-store.ts'
import type { MakeDiff } from './diffs.ts'
import { differing, filesOf, targetsBefore } from './restore.ts'

export interface FileDiff {
  path: string
  change: CheckpointFile['change']
  /** Unified; empty for a folder, one line of words where lines cannot be compared. */
  diff: string
}

/** Larger files are not compared line by line. */
const MAX_BYTES = 1024 * 1024
/** Beyond these only the names are told, and beyond those only their number. */
const MAX_FILES = 200
const MAX_NAMED = 1_000
const MAX_CHARACTERS = 2_000_000

/** Bytes of one side; `unknown` when they are nowhere to be had any more. */
type Side = { kind: 'nothing' } | { kind: 'bytes'; bytes: Buffer } | { kind: 'unknown' }

/** Throws `not_found` for a checkpoint that is not of this project. */
export async function diffCheckpoint(
  workspace: Workspace,
  id: string,
  against: 'change' | 'now',
  tools: {
    records: CheckpointRepository
    checkpoints: Checkpoints
    makeDiff: MakeDiff
    pool: WorkerPool
  },
): Promise<{ files: FileDiff[]; fileCount: number }> {
  const { records } = tools
  const rows = await records.since(workspace.projectId, id)
  const [row, ...later] = rows
  if (row?.id !== id) throw appError('checkpoint_not_found')
  const kept = tools.checkpoints.keptContent(workspace.projectId)
  const all =
    against === 'now'
      ? (await sinceThen(workspace, tools.pool, filesOf(records, rows))).filter(isShown)
      : (await records.files(row, 0, MAX_NAMED)).filter(isShown)
  const files = all.slice(0, MAX_NAMED)
  const compared = new Set(files.slice(0, MAX_FILES).map(({ path }) => path))
  const nexts = against === 'now' ? new Map() : await nextBefore(compared, filesOf(records, later))
  const diffs: FileDiff[] = []
  let characters = 0
  for (const { path, change, before, after } of files) {
    if (diffs.length >= MAX_FILES || characters > MAX_CHARACTERS) {
      diffs.push({ path, change, diff: '' })
      continue
    }
    const next = nexts.get(path)
    const was = await sideOf(before, kept)
    const is =
      after === null
        ? ({ kind: 'nothing' } as const)
        : next === undefined
          ? await currentSide(workspace, path)
          : await sideOf(next, kept)
    const diff = await diffOf(path, was, is, tools.makeDiff)
    characters += diff.length
    diffs.push({ path, change, diff })
  }
  return { files: diffs, fileCount: against === 'now' ? all.length : row.fileCount }
}

/** Folders are told only where nothing in them is. */
const isShown = ({ before, after }: CheckpointFile): boolean =>
  (before ?? after)?.kind !== 'directory'

/** What the next change found at these paths: just what the one before left there. Paths that none touched are missing. */
async function nextBefore(
  paths: ReadonlySet<string>,
  later: AsyncIterable<readonly CheckpointFile[]>,
): Promise<Map<string, PathContent | null>> {
  const found = new Map<string, PathContent | null>()
  for await (const files of later) {
    for (const { path, before } of files)
      if (paths.has(path) && !found.has(path)) found.set(path, before)
    if (found.size === paths.size) break
  }
  return found
}

async function sinceThen(
  workspace: Workspace,
  pool: WorkerPool,
  pages: AsyncIterable<readonly CheckpointFile[]>,
): Promise<CheckpointFile[]> {
  const targets = await targetsBefore(pages)
  const different = await differing(targets, { workspace, pool, known: new Map() })
  return [...different].map(([path, { now, target }]) => ({
    path,
    change: target === null ? 'added' : now === null ? 'deleted' : 'modified',
    before: target,
    after: now,
  }))
}

async function sideOf(content: PathContent | null, kept: KeptContent): Promise<Side> {
  if (content?.kind === 'link') return { kind: 'bytes', bytes: Buffer.from(`${content.target}\n`) }
  if (content?.kind !== 'file') return { kind: 'nothing' }
  const bytes = await kept.read(content.hash, MAX_BYTES)
  return bytes === null ? { kind: 'unknown' } : { kind: 'bytes', bytes }
}

async function currentSide(workspace: Workspace, path: string): Promise<Side> {
  try {
    return { kind: 'bytes', bytes: (await workspace.read(path, MAX_BYTES)).bytes }
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return { kind: 'nothing' }
    return { kind: 'unknown' }
  }
}

async function diffOf(path: string, was: Side, is: Side, makeDiff: MakeDiff): Promise<string> {
  if (was.kind === 'unknown' || is.kind === 'unknown')
    return `"${path}" is too large to compare, or its earlier content is no longer kept.\n`
  const sides = [was, is].map((side) => (side.kind === 'bytes' ? side.bytes : null))
  if (sides.some((bytes) => bytes !== null && binaryKind(bytes) !== null))
    return `Binary files a/${path} and b/${path} differ\n`
  const [before = null, after = null] = sides.map((bytes) =>
    bytes === null ? null : decodeText(bytes, path).text,
  )
  return (await makeDiff(path, before, after)).diff
}
