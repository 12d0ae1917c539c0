// The kinds of parts that changes are made of: a change of named paths, the rename of a folder, and undoing either.
import { appError } from '../../errors.ts'
import { asOpenFiles, type CaptureTools, capturePaths } from './capture.ts'
import type { KeptContent } from './content-store.ts'
import type { FolderMove } from './parts.ts'
import type { ChangePart, OpenPart } from './record-change.ts'
import { applyTargets, differing } from './restore.ts'
import type { UndoStep } from './undo-steps.ts'

/** What parts are made with. */
export interface PartTools extends Omit<CaptureTools, 'kept' | 'known'> {
  kept: KeptContent
}

/** A part whose work has a result. */
export interface ResultPart<T> extends ChangePart {
  /** To be asked after the work. */
  result(): T
}

/** `work` as a part; `begin` tells what it may touch. */
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

/** `work` changes nothing but `paths`: files, folders with all below, or what is about to be made. */
export const pathsPart = <T>(
  tools: PartTools,
  paths: readonly string[],
  work: () => Promise<T>,
): ResultPart<T> => withResult(() => keepPaths(tools, paths, new Map()), work)

/** Keeps what the paths hold. */
async function keepPaths(
  tools: PartTools,
  paths: readonly string[],
  known: Map<string, string>,
): Promise<OpenPart> {
  const before = await capturePaths(paths, { ...tools, known })
  return { files: asOpenFiles(before), scope: 'paths', known }
}

/** Renames the folder at `from`; there must be nothing at `to`. */
export function movePart(tools: PartTools, { from, to }: FolderMove): ChangePart {
  return {
    async begin() {
      const { files, ...open } = await keepPaths(tools, [to], new Map())
      // Beside the folder itself: those above it that are made for it.
      return { ...open, files: files.filter(({ path }) => path !== to), move: { from, to } }
    },
    work: () => tools.workspace.move(from, to),
  }
}

/** One step back. What other programs have removed since stays removed. Throws `conflict` where something unknown is in the way. */
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
  let different: Awaited<ReturnType<typeof differing>> = new Map()
  return {
    async begin() {
      const known = new Map<string, string>()
      different = await differing(step.targets, { ...tools, known })
      return different.size === 0 ? null : keepPaths(tools, [...different.keys()], known)
    },
    work: () => applyTargets(tools, different, tools.kept),
  }
}
