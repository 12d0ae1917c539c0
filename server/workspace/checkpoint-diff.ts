// What a checkpoint's change did, or what has become of the project since, as differences for a person.
import type { CheckpointRepository, CheckpointRow } from '../db/repositories/checkpoints.ts'
import type { CheckpointFile, PathContent } from '../db/tables/projects.ts'
import { AppError } from '../errors.ts'
import type { Checkpoints } from './checkpoints.ts'
import type { MakeDiff } from './diffs.ts'
import type { KeptContent } from './kept-content.ts'
import { differing, targetsBefore } from './restore.ts'
import { binaryKind, decodeText } from './text.ts'
import type { Workspace } from './workspace.ts'

export interface FileDiff {
  path: string
  change: CheckpointFile['change']
  /** Unified; empty for a folder, one line of words where lines cannot be compared. */
  diff: string
}

/** Larger files are not compared line by line. */
const MAX_BYTES = 1024 * 1024
/** Beyond these only the names are told. */
const MAX_FILES = 200
const MAX_CHARACTERS = 2_000_000

/** Bytes of one side; `unknown` when they are nowhere to be had any more. */
type Side = { kind: 'nothing' } | { kind: 'bytes'; bytes: Buffer } | { kind: 'unknown' }

/** Throws `not_found` for a checkpoint that is not of this project. */
export async function diffCheckpoint(
  workspace: Workspace,
  id: string,
  against: 'change' | 'now',
  tools: { records: CheckpointRepository; checkpoints: Checkpoints; makeDiff: MakeDiff },
): Promise<FileDiff[]> {
  const rows = await tools.records.since(workspace.projectId, id)
  const [row, ...later] = rows
  if (row?.id !== id) throw new AppError('not_found', 'There is no such checkpoint.')
  const kept = tools.checkpoints.keptContent(workspace.projectId)
  const files = against === 'now' ? await sinceThen(workspace, rows) : row.files
  const diffs: FileDiff[] = []
  let characters = 0
  for (const { path, change, before, after } of files.filter(isShown)) {
    if (diffs.length >= MAX_FILES || characters > MAX_CHARACTERS) {
      diffs.push({ path, change, diff: '' })
      continue
    }
    const next = against === 'now' ? undefined : nextBefore(path, later)
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
  return diffs
}

/** Folders are told only where nothing in them is. */
const isShown = ({ before, after }: CheckpointFile): boolean =>
  (before ?? after)?.kind !== 'directory'

/** What the change after this one found at the path: just what this one left there. Undefined when none touched it. */
function nextBefore(path: string, later: readonly CheckpointRow[]): PathContent | null | undefined {
  for (const { files } of later) {
    const file = files.find((entry) => entry.path === path)
    if (file !== undefined) return file.before
  }
  return undefined
}

async function sinceThen(
  workspace: Workspace,
  rows: readonly CheckpointRow[],
): Promise<CheckpointFile[]> {
  const different = await differing(workspace, targetsBefore(rows))
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
