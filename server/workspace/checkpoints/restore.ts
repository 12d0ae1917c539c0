// Restores paths of a project to earlier contents: the one place that undoes.
import pLimit from 'p-limit'
import type { PathContent } from '../../db/tables/projects.ts'
import { appError } from '../../errors.ts'
import { type CaptureTools, captureAll, sameContent } from './capture.ts'
import type { KeptContent } from './content-store.ts'
import type { Targets, UndoStep } from './undo-steps.ts'

/** Files that are restored at the same time. */
const AT_ONCE = 8
const FORCE_MS = 10 * 60_000

/** Returns only the paths that differ from what they should hold. */
export async function differing(targets: Targets, tools: Omit<CaptureTools, 'kept'>) {
  const different = new Map<string, { now: PathContent | null; target: PathContent | null }>()
  const found = await captureAll([...targets.keys()], { ...tools, kept: null }, false)
  for (const [path, target] of targets) {
    const now = found.get(path) ?? null
    if (!sameContent(now, target)) different.set(path, { now, target })
  }
  return different
}

/** Throws `conflict` when a content is no longer stored, before anything is changed. */
export async function checkKept(targets: Targets, kept: KeptContent): Promise<void> {
  for (const [path, target] of targets)
    if (target?.kind === 'file' && !(await kept.has(target.hash)))
      throw appError('content_expired', { path })
}

/**
 * Makes the paths hold what `different` says. Folders that were added since are removed when nothing else is in them.
 * Throws `conflict` when a folder in the way holds files that no checkpoint knows.
 */
export async function applyTargets(
  { workspace, pool }: Pick<CaptureTools, 'workspace' | 'pool'>,
  different: Awaited<ReturnType<typeof differing>>,
  kept: KeptContent,
): Promise<void> {
  const paths = [...different.keys()].sort()
  const of = (path: string) => different.get(path) ?? { now: null, target: null }
  const later = { later: true }
  const slot = pLimit(AT_ONCE)
  // Deepest first, so that folders are empty by the time they are removed.
  const inTheWay = paths.toReversed().filter((path) => {
    const { now, target } = of(path)
    return now !== null && now.kind !== target?.kind
  })
  const isFolder = (path: string): boolean => of(path).now?.kind === 'directory'
  await slot.map(
    inTheWay.filter((path) => !isFolder(path)),
    (path) => workspace.remove(path, later),
  )
  for (const path of inTheWay.filter(isFolder))
    if (!(await workspace.removeEmptyFolder(path)) && of(path).target !== null)
      throw appError('folder_in_the_way', { path })
  for (const path of paths)
    if (of(path).target?.kind === 'directory') await workspace.makeFolder(path, later)
  await slot.map(paths, async (path) => {
    const { now, target } = of(path)
    if (target?.kind === 'file')
      await workspace.copyIn(path, kept.pathOf(target.hash), target.mode, later)
    else if (target?.kind === 'link') {
      if (now?.kind === 'link') await workspace.remove(path, later)
      await workspace.makeLink(path, target.target)
    }
  })
  await pool.run('force_paths', { root: workspace.root, paths }, { timeoutMs: FORCE_MS })
}

/** Undoes a change of paths without a trace: their current contents are not stored. */
export async function undoUnkept(
  steps: readonly UndoStep[],
  tools: Pick<CaptureTools, 'workspace' | 'pool'> & { kept: KeptContent },
): Promise<void> {
  for (const step of steps)
    if (step.kind === 'restore') {
      const different = await differing(step.targets, { ...tools, known: new Map() })
      await applyTargets(tools, different, tools.kept)
    }
}
