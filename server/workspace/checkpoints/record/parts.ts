// The parts of a recorded change, in order: changed paths and renamed folders.
import type {
  CheckpointRepository,
  CheckpointRow,
} from '../../../db/repositories/projects/checkpoints.ts'
import type { CheckpointFile } from '../../../db/tables/projects/checkpoints.ts'

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
