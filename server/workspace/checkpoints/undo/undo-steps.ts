// Plans the steps that lead from the current state back to the state before several changes.
import type { CheckpointFile, PathContent } from '../../../db/tables/projects/checkpoints.ts'
import { appError } from '../../../errors.ts'
import { countedBytes } from '../../files/counted-bytes.ts'
import { type FolderMove, inverse, movedPath, type Part } from '../record/parts.ts'

/** What each path should hold; null means nothing. */
export type Targets = ReadonlyMap<string, PathContent | null>

/** Restores paths, or renames a folder back. */
export type UndoStep = { kind: 'restore'; targets: Targets } | ({ kind: 'move' } & FolderMove)

/** Restoring more paths at once is refused. */
const MAX_PATHS = 200_000

/** One or more consecutive parts: what paths held before the first of them, or a rename. */
type Segment =
  | { kind: 'files'; before: Map<string, PathContent | null> }
  | ({ kind: 'move' } & FolderMove)

/**
 * The steps that undo these changes (given oldest first). `growth`: bytes by which they enlarge the project. Throws
 * `bad_request` when there are too many paths.
 */
export async function undoSteps(
  changes: AsyncIterable<readonly Part[]>,
): Promise<{ steps: UndoStep[]; growth: number }> {
  const segments: Segment[] = []
  let growth = 0
  for await (const parts of changes)
    for (const part of parts) {
      if (part.kind === 'move') addMove(segments, part)
      else {
        addFiles(
          segments,
          part.files.map(({ path, before }) => [path, before] as const),
        )
        growth -= growthOf(part.files)
      }
    }
  const steps = segments
    .reverse()
    .map(
      (segment): UndoStep =>
        segment.kind === 'move'
          ? { kind: 'move', ...inverse(segment) }
          : { kind: 'restore', targets: segment.before },
    )
  return { steps, growth }
}

/** Bytes by which a change of these files enlarges the project; negative when it shrinks. */
export const growthOf = (files: readonly CheckpointFile[]): number =>
  files.reduce((sum, { before, after }) => sum + bytesOf(after) - bytesOf(before), 0)
const bytesOf = (content: PathContent | null): number =>
  content === null ? 0 : countedBytes(content.kind, content.kind === 'file' ? content.size : 0)

function addFiles(
  segments: Segment[],
  files: Iterable<readonly [path: string, before: PathContent | null]>,
): void {
  let last = segments.at(-1)
  if (last?.kind !== 'files') {
    last = { kind: 'files', before: new Map() }
    segments.push(last)
  }
  for (const [path, before] of files) if (!last.before.has(path)) last.before.set(path, before)
  if (last.before.size > MAX_PATHS) throw appError('too_many_restored', { limit: MAX_PATHS })
}

/**
 * A rename back to the earlier name cancels the previous rename: what changed in the folder in between then changed at the
 * earlier name. Without this, going back and forth in the history would double the steps each time.
 */
function addMove(segments: Segment[], { from, to }: FolderMove): void {
  const last = segments.at(-1)
  const meanwhile = last?.kind === 'files' ? last.before : null
  const earlier = segments.at(meanwhile === null ? -1 : -2)
  if (earlier?.kind !== 'move' || earlier.from !== to || earlier.to !== from) {
    segments.push({ kind: 'move', from, to })
    return
  }
  segments.length -= meanwhile === null ? 1 : 2
  const files: [string, PathContent | null][] = []
  // What was at the earlier name in between no longer exists, and did not exist before.
  for (const [path, before] of meanwhile ?? [])
    if (movedPath(path, inverse({ from, to })) === null)
      files.push([movedPath(path, { from, to }) ?? path, before])
  if (files.length > 0) addFiles(segments, files)
}
