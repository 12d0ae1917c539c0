// Bringing paths of a project back to what they held: the one place that undoes.
import type { CheckpointFile, PathContent } from '../db/tables/projects.ts'
import { AppError } from '../errors.ts'
import { captureOne, sameContent } from './capture.ts'
import type { KeptContent } from './kept-content.ts'
import { parseInnerPath } from './paths.ts'
import type { Workspace } from './workspace.ts'

/** What each path is to hold; null is 'nothing'. */
export type Targets = ReadonlyMap<string, PathContent | null>

/** The state before the oldest of these checkpoints (given oldest first): for each path what its first change found. */
export function targetsBefore(checkpoints: readonly { files: readonly CheckpointFile[] }[]) {
  const targets = new Map<string, PathContent | null>()
  for (const { files } of checkpoints)
    for (const { path, before } of files) if (!targets.has(path)) targets.set(path, before)
  return targets
}

/** Leaves only the paths that do not hold what they should. */
export async function differing(workspace: Workspace, targets: Targets) {
  const different = new Map<string, { now: PathContent | null; target: PathContent | null }>()
  for (const [path, target] of targets) {
    const now = await captureOne(workspace.root, parseInnerPath(path), null)
    if (!sameContent(now, target)) different.set(path, { now, target })
  }
  return different
}

/** Throws `conflict` when a content is no longer kept, before anything is changed. */
export async function checkKept(targets: Targets, kept: KeptContent): Promise<void> {
  for (const [path, target] of targets)
    if (target?.kind === 'file' && !(await kept.has(target.hash)))
      throw new AppError(
        'conflict',
        `The earlier content of "${path}" is no longer kept, so this state cannot be restored.`,
      )
}

/**
 * Makes the paths hold what `different` says. Folders that came since are removed when nothing else is in them. Throws
 * `conflict` when a folder in the way holds files that no checkpoint knows.
 */
export async function applyTargets(
  workspace: Workspace,
  different: Awaited<ReturnType<typeof differing>>,
  kept: KeptContent,
): Promise<void> {
  const paths = [...different.keys()].sort()
  const of = (path: string) => different.get(path) ?? { now: null, target: null }
  // Deepest first, so that folders are empty when it is their turn.
  for (const path of paths.toReversed()) {
    const { now, target } = of(path)
    if (now === null || now.kind === target?.kind) continue
    if (now.kind !== 'directory') await workspace.remove(path)
    else if (!(await workspace.removeEmptyFolder(path)) && target !== null)
      throw new AppError(
        'conflict',
        `The folder "${path}" holds files that are not known and cannot make place for what was there.`,
      )
  }
  for (const path of paths) {
    const { now, target } = of(path)
    if (target?.kind === 'directory') await workspace.makeFolder(path)
    else if (target?.kind === 'file')
      await workspace.copyIn(path, kept.pathOf(target.hash), target.mode)
    else if (target?.kind === 'link') {
      if (now?.kind === 'link') await workspace.remove(path)
      await workspace.makeLink(path, target.target)
    }
  }
}
