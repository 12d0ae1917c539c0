// How the state before several changes is reached from the one after them.
import type { CheckpointFile, PathContent } from '../../db/tables/projects.ts'
import { appError } from '../../errors.ts'
import { type FolderMove, inverse, movedPath, type Part } from './parts.ts'

/** What each path is to hold; null is 'nothing'. */
export type Targets = ReadonlyMap<string, PathContent | null>

/** Paths that are brought back to what they held, or a folder that is renamed back. */
export type UndoStep = { kind: 'restore'; targets: Targets } | ({ kind: 'move' } & FolderMove)

/** More paths than this are not restored at once. */
const MAX_PATHS = 200_000

/** One or more parts of changes: what paths held before the first of them, or a rename. */
type Stretch =
  | { kind: 'files'; before: Map<string, PathContent | null> }
  | ({ kind: 'move' } & FolderMove)

/**
 * The steps back from the state after these changes (given oldest first), each to the state before one or more of them.
 * `grows`: bytes by which the project becomes larger on the way. Throws `bad_request` when it is too much.
 */
export async function undoSteps(
  changes: AsyncIterable<readonly Part[]>,
): Promise<{ steps: UndoStep[]; grows: number }> {
  const stretches: Stretch[] = []
  let grows = 0
  for await (const parts of changes)
    for (const part of parts) {
      if (part.kind === 'move') addMove(stretches, part)
      else {
        addFiles(
          stretches,
          part.files.map(({ path, before }) => [path, before] as const),
        )
        grows -= growthOf(part.files)
      }
    }
  const steps = stretches
    .reverse()
    .map(
      (stretch): UndoStep =>
        stretch.kind === 'move'
          ? { kind: 'move', ...inverse(stretch) }
          : { kind: 'restore', targets: stretch.before },
    )
  return { steps, grows }
}

/** Bytes by which a change of these files makes the project larger; negative when it becomes smaller. */
export const growthOf = (files: readonly CheckpointFile[]): number =>
  files.reduce((sum, { before, after }) => sum + bytesOf(after) - bytesOf(before), 0)
const bytesOf = (content: PathContent | null): number =>
  content?.kind === 'file' ? content.size : 0

function addFiles(
  stretches: Stretch[],
  files: Iterable<readonly [path: string, before: PathContent | null]>,
): void {
  let last = stretches.at(-1)
  if (last?.kind !== 'files') {
    last = { kind: 'files', before: new Map() }
    stretches.push(last)
  }
  for (const [path, before] of files) if (!last.before.has(path)) last.before.set(path, before)
  if (last.before.size > MAX_PATHS) throw appError('too_many_restored', { limit: MAX_PATHS })
}

/**
 * A rename back to where the folder was before leaves no rename at all: what changed in the folder meanwhile changed at
 * its earlier place. Without this, going back and forth in the history would double the steps each time.
 */
function addMove(stretches: Stretch[], { from, to }: FolderMove): void {
  const last = stretches.at(-1)
  const meanwhile = last?.kind === 'files' ? last.before : null
  const earlier = stretches.at(meanwhile === null ? -1 : -2)
  if (earlier?.kind !== 'move' || earlier.from !== to || earlier.to !== from) {
    stretches.push({ kind: 'move', from, to })
    return
  }
  stretches.length -= meanwhile === null ? 1 : 2
  const files: [string, PathContent | null][] = []
  // What was at the folder's earlier place meanwhile is gone by now, and was not there before.
  for (const [path, before] of meanwhile ?? [])
    if (movedPath(path, inverse({ from, to })) === null)
      files.push([movedPath(path, { from, to }) ?? path, before])
  if (files.length > 0) addFiles(stretches, files)
}
