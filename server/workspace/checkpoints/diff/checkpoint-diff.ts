// Diffs for people: what a checkpoint's change did, or how the project has changed since.
import type { CheckpointRepository } from '../../../db/repositories/projects/checkpoints.ts'
import type { CheckpointFile, PathContent } from '../../../db/tables/projects/checkpoints.ts'
import { AppError, appError } from '../../../errors.ts'
import { binaryKind, decodeText } from '../../files/text.ts'
import type { WorkerPool } from '../../worker/worker-pool.ts'
import type { Workspace } from '../../workspace.ts'
import { captureAll, sameContent } from '../capture/capture.ts'
import type { ContentStore } from '../capture/content-store.ts'
import type { Checkpoints } from '../checkpoints.ts'
import {
  movedPath,
  moveEntries,
  type Part,
  partsOfAll,
  stateBefore,
  undoSteps,
} from '../undo/undo-steps.ts'
import type { MakeDiff } from './diffs.ts'

/** What a checkpoint changed in one file. */
export interface FileDiff {
  path: string
  change: CheckpointFile['change']
  /** Unified; empty for a folder, one line of text when lines cannot be compared. */
  diff: string
}

/** Larger files are not compared line by line. */
const MAX_BYTES = 1024 * 1024
/** Files beyond these are listed without a diff. */
const MAX_FILES = 200
/** Files beyond these are only counted. */
const MAX_LISTED = 1_000
const MAX_CHARACTERS = 2_000_000

/** The bytes of one side; `unknown` if they are no longer available. */
type Side = { kind: 'nothing' } | { kind: 'bytes'; bytes: Buffer } | { kind: 'unknown' }

/** A path to compare, and the source of its later side: a path in the project, or what the next change found. */
type Compared = CheckpointFile & { later: { place: string | null } | { held: PathContent | null } }

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
  const [row] = rows
  if (row?.id !== id) throw appError('checkpoint_not_found')
  const contents = tools.checkpoints.contentStore(workspace.projectId)
  const changes = partsOfAll(records, rows)
  const all =
    against === 'now'
      ? await changedSince(changes, workspace, tools.pool)
      : await withLaterSides(await records.files(row, 0, MAX_LISTED), changes)
  const diffs: FileDiff[] = []
  let characters = 0
  for (const file of all.filter(isShown).slice(0, MAX_LISTED)) {
    const { path, change, before, after, later } = file
    if (diffs.length >= MAX_FILES || characters > MAX_CHARACTERS) {
      diffs.push({ path, change, diff: '' })
      continue
    }
    if (isRename(file)) {
      diffs.push({ path, change, diff: renameText(file) })
      continue
    }
    const was = await sideOf(before, contents)
    const is =
      after === null
        ? ({ kind: 'nothing' } as const)
        : 'held' in later
          ? await sideOf(later.held, contents)
          : await currentSide(workspace, later.place ?? path)
    const diff = await diffOf(path, was, is, tools.makeDiff)
    characters += diff.length
    diffs.push({ path, change, diff })
  }
  const fileCount = against === 'now' ? all.filter(isShown).length : row.fileCount
  return { files: diffs, fileCount }
}

const isRename = ({ movedTo, movedFrom }: CheckpointFile): boolean =>
  (movedTo ?? movedFrom) !== undefined
const renameText = ({ path, movedTo, movedFrom }: CheckpointFile): string =>
  `rename from ${movedFrom ?? path}\nrename to ${movedTo ?? path}\n`

/** Of folders, only renames are listed. */
const isShown = (file: CheckpointFile): boolean =>
  isRename(file) || (file.before ?? file.after)?.kind !== 'directory'

/**
 * Finds the later side of each file of the first of these changes: what the next change of the same file found. A file that
 * no later change touched is in the project, possibly in a folder that was renamed since.
 */
async function withLaterSides(
  files: readonly CheckpointFile[],
  changes: AsyncIterable<readonly Part[]>,
): Promise<Compared[]> {
  const compared: Compared[] = files.map((file) => ({ ...file, later: { place: file.path } }))
  let tracked = new Map<string, Compared>()
  let isFirst = true
  for await (const parts of changes) {
    for (const part of parts) {
      if (part.kind === 'files')
        for (const { path, before } of part.files) {
          const file = tracked.get(path)
          if (file === undefined) continue
          file.later = { held: before }
          tracked.delete(path)
        }
      else
        tracked = new Map([...tracked].map(([path, file]) => [movedPath(path, part) ?? path, file]))
      if (isFirst)
        for (const file of compared)
          if ((file.part ?? 0) === part.number && !isRename(file)) tracked.set(file.path, file)
    }
    isFirst = false
    if (tracked.size === 0) break
  }
  for (const [place, file] of tracked) file.later = { place }
  return compared
}

/**
 * What a restore would undo: what each path contained before these changes, and what its entry contains now, wherever it
 * is.
 */
async function changedSince(
  changes: AsyncIterable<readonly Part[]>,
  workspace: Workspace,
  pool: WorkerPool,
): Promise<Compared[]> {
  const { targets, moves } = stateBefore((await undoSteps(changes)).steps)
  const places = new Map(
    [...targets.values()].flatMap(({ place }) => (place === null ? [] : [[place, null] as const])),
  )
  const now = await captureAll(
    [...places.keys()],
    { workspace, pool, contents: null, known: new Map() },
    false,
  )
  const compared: Compared[] = moves.flatMap((move) =>
    moveEntries(move).map((file) => ({ ...file, later: { place: file.path } })),
  )
  for (const [path, { content, place }] of targets) {
    const is = place === null ? null : (now.get(place) ?? null)
    if (sameContent(is, content)) continue
    const change = content === null ? 'added' : is === null ? 'deleted' : 'modified'
    // A path that a restore would remove is listed under its current name.
    const listed = content === null ? (place ?? path) : path
    compared.push({ path: listed, change, before: content, after: is, later: { place } })
  }
  return compared
}

async function sideOf(content: PathContent | null, contents: ContentStore): Promise<Side> {
  if (content?.kind === 'link') return { kind: 'bytes', bytes: Buffer.from(`${content.target}\n`) }
  if (content?.kind !== 'file') return { kind: 'nothing' }
  const bytes = await contents.read(content.hash, MAX_BYTES)
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
    return `"${path}" is too large to compare, or its earlier content is no longer stored.\n`
  const sides = [was, is].map((side) => (side.kind === 'bytes' ? side.bytes : null))
  if (sides.some((bytes) => bytes !== null && binaryKind(bytes) !== null))
    return `Binary files a/${path} and b/${path} differ\n`
  const [before = null, after = null] = sides.map((bytes) =>
    bytes === null ? null : decodeText(bytes, path).text,
  )
  return (await makeDiff(path, before, after)).diff
}
