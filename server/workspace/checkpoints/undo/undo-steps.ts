// The parts of recorded changes, and the steps that undo them: computed from the records, without touching the project.

import type {
  CheckpointRepository,
  CheckpointRow,
} from '../../../db/repositories/projects/checkpoints.ts'
import type { CheckpointFile, PathContent } from '../../../db/tables/projects/checkpoints.ts'
import { appError } from '../../../errors.ts'
import { countedBytes } from '../../files/entries.ts'

// The parts of a recorded change, in order: changed paths and renamed folders.

/** A folder renamed with everything in it. */
export interface FolderMove {
  from: string
  to: string
}

/** `number`: its position among the parts of its change. */
export type Part = { number: number } & (
  | { kind: 'files'; files: CheckpointFile[] }
  | ({ kind: 'move' } & FolderMove)
)

/** How a renamed folder is stored. */
export const moveEntries = ({ from, to }: FolderMove): CheckpointFile[] => [
  { path: from, change: 'deleted', before: { kind: 'directory' }, after: null, movedTo: to },
  { path: to, change: 'added', before: null, after: { kind: 'directory' }, movedFrom: from },
]

/** Appends `files` to `done` as the next part. */
export function asNextPart(
  done: readonly CheckpointFile[],
  files: readonly CheckpointFile[],
): CheckpointFile[] {
  const last = done.reduce((highest, { part = 0 }) => Math.max(highest, part), -1)
  return [...done, ...files.map((file) => (last < 0 ? file : { ...file, part: last + 1 }))]
}

/** The parts of one change in order, from its files in any order. */
export function partsOf(files: readonly CheckpointFile[]): Part[] {
  const parts = new Map<number, Part>()
  for (const file of files) {
    const { path, part: number = 0, movedTo, movedFrom } = file
    if (movedFrom !== undefined) continue
    const part = parts.get(number)
    if (movedTo !== undefined) parts.set(number, { kind: 'move', number, from: path, to: movedTo })
    else if (part?.kind === 'files') part.files.push(file)
    else parts.set(number, { kind: 'files', number, files: [file] })
  }
  return [...parts.values()].sort((one, other) => one.number - other.number)
}

/** The parts of each of several checkpoints, in their order. */
export async function* partsOfAll(
  records: Pick<CheckpointRepository, 'pages'>,
  rows: readonly Pick<CheckpointRow, 'id'>[],
): AsyncGenerator<Part[]> {
  for (const { id } of rows) {
    const files: CheckpointFile[] = []
    for await (const page of records.pages(id)) files.push(...page)
    yield partsOf(files)
  }
}

/** The path after the rename; null when it is not in the folder. */
export function movedPath(path: string, { from, to }: FolderMove): string | null {
  if (path === from) return to
  return path.startsWith(`${from}/`) ? to + path.slice(from.length) : null
}

/** The move that undoes this one. */
export const inverse = ({ from, to }: FolderMove): FolderMove => ({ from: to, to: from })

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

// Computes the state before several changes from the steps that undo them, without touching the project.

/** What the changed paths of a project contained before some changes. */
interface StateBefore {
  /**
   * By path before the changes: what it contained, and the current path of that entry, or null if it no longer exists. An
   * entry that was only added since has a key that no path can have.
   */
  targets: ReadonlyMap<string, { content: PathContent | null; place: string | null }>
  /** Renamed folders: from the name before the changes to the current one. */
  moves: FolderMove[]
}

/** `steps` lead from the current state to that state. */
export function stateBefore(steps: readonly UndoStep[]): StateBefore {
  /** The renames undone so far, newest first. */
  const undone: FolderMove[] = []
  let contents = new Map<string, PathContent | null>()
  const added = new Set<string>()
  const renamed = new Map<string, string>()

  /** The current path of an entry, given its path in the state reached so far. */
  const placeOf = (path: string): string | null => {
    let place = path
    for (const move of undone.toReversed()) {
      const later = movedPath(place, move)
      if (later === null && movedPath(place, inverse(move)) !== null) return null
      place = later ?? place
    }
    return place
  }

  for (const step of steps) {
    if (step.kind === 'restore') {
      for (const [path, content] of step.targets) contents.set(path, content)
      continue
    }
    const move = inverse(step)
    const next = new Map<string, PathContent | null>()
    for (const [path, content] of contents) {
      // The rename left nothing at the old name, so an entry there was added after it.
      if (movedPath(path, move) === null) next.set(movedPath(path, step) ?? path, content)
      else addPlace(added, placeOf(path))
    }
    contents = next
    for (const [now, before] of renamed) renamed.set(now, movedPath(before, step) ?? before)
    const place = placeOf(move.to)
    if (place !== null && !renamed.has(place)) renamed.set(place, move.from)
    undone.push(move)
  }

  const targets = new Map<string, { content: PathContent | null; place: string | null }>()
  for (const [path, content] of contents) targets.set(path, { content, place: placeOf(path) })
  for (const place of added) targets.set(`/${place}`, { content: null, place })
  const moves = [...renamed]
    .filter(([now, before]) => now !== before)
    .map(([to, from]) => ({ from, to }))
  return { targets, moves }
}

const addPlace = (places: Set<string>, place: string | null): void => {
  if (place !== null) places.add(place)
}
