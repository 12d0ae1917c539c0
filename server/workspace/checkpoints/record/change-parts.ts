// The parts of changes: changing named paths, renaming a folder, and undoing either.
import { appError } from '../../../errors.ts'
import { type CaptureTools, capturePaths, pendingFiles } from '../capture/capture.ts'
import type { ContentStore } from '../capture/content-store.ts'
import { applyTargets, findDifferences } from '../undo/restore.ts'
import type { UndoStep } from '../undo/undo-steps.ts'
import type { FolderMove } from './parts.ts'
import type { ChangePart, OpenPart } from './record-change.ts'

/** The dependencies of a part. */
export interface PartTools extends Omit<CaptureTools, 'contents' | 'known'> {
  contents: ContentStore
}

/** A part whose work returns a result. */
export interface ResultPart<T> extends ChangePart {
  /** The result; call it after the work. */
  result(): T
}

/** Turns `work` into a part; `begin` captures what it may touch. */
export function withResult<T>(
  begin: () => Promise<OpenPart>,
  work: () => Promise<T>,
): ResultPart<T> {
  let done: { result: T } | undefined
  return {
    begin,
    async work() {
      done = { result: await work() }
    },
    result() {
      if (done === undefined) throw new Error('The work of this part has not ended.')
      return done.result
    },
  }
}

/** `work` may change only `paths`: files, folders with everything below, or paths that it creates. */
export const pathsPart = <T>(
  tools: PartTools,
  paths: readonly string[],
  work: () => Promise<T>,
): ResultPart<T> => withResult(() => storePaths(tools, paths, new Map()), work)

/** Stores what the paths hold. */
async function storePaths(
  tools: PartTools,
  paths: readonly string[],
  known: Map<string, string>,
): Promise<OpenPart> {
  const before = await capturePaths(paths, { ...tools, known })
  return { files: pendingFiles(before), scope: 'paths', known }
}

/** Renames the folder at `from`. Nothing may exist at `to`. */
export function movePart(tools: PartTools, { from, to }: FolderMove): ChangePart {
  return {
    async begin() {
      const { files, ...open } = await storePaths(tools, [to], new Map())
      // Only the parent folders that the rename may create. The folder is in `move`.
      return { ...open, files: files.filter(({ path }) => path !== to), move: { from, to } }
    },
    work: () => tools.workspace.move(from, to),
  }
}

/**
 * Undoes one step. Entries that other programs have removed since stay removed. @throws AppError `conflict` if something
 * that no checkpoint knows is in the way.
 */
export function undoPart(tools: PartTools, step: UndoStep): ChangePart {
  const { workspace } = tools
  if (step.kind === 'move') {
    const part = movePart(tools, step)
    return {
      async begin() {
        if ((await workspace.state(step.from))?.kind !== 'directory') return null
        if ((await workspace.state(step.to)) !== null)
          throw appError('old_name_taken', { path: step.from, old: step.to })
        return part.begin()
      },
      work: part.work,
    }
  }
  let different: Awaited<ReturnType<typeof findDifferences>> = new Map()
  return {
    async begin() {
      const known = new Map<string, string>()
      different = await findDifferences(step.targets, { ...tools, known })
      return different.size === 0 ? null : storePaths(tools, [...different.keys()], known)
    },
    work: () => applyTargets(tools, different, tools.contents),
  }
}
