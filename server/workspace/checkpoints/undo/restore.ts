// Restores paths of a project to earlier contents; the only code that undoes changes.
import pLimit from 'p-limit'
import type { PathContent } from '../../../db/tables/projects/checkpoints.ts'
import { appError } from '../../../errors.ts'
import { type CaptureTools, captureAll, sameContent } from '../capture/capture.ts'
import type { ContentStore } from '../capture/content-store.ts'
import type { Targets, UndoStep } from './undo-steps.ts'

/** Files that are restored at the same time. */
const CONCURRENCY = 8
const SYNC_TIMEOUT_MS = 10 * 60_000

/** Returns the paths that differ from their targets. */
export async function findDifferences(targets: Targets, tools: Omit<CaptureTools, 'contents'>) {
  const different = new Map<string, { now: PathContent | null; target: PathContent | null }>()
  const found = await captureAll([...targets.keys()], { ...tools, contents: null }, false)
  for (const [path, target] of targets) {
    const now = found.get(path) ?? null
    if (!sameContent(now, target)) different.set(path, { now, target })
  }
  return different
}

/** Throws `conflict` when a content is no longer stored. Call it before changing anything. */
export async function assertContentsStored(
  targets: Targets,
  contents: ContentStore,
): Promise<void> {
  for (const [path, target] of targets)
    if (target?.kind === 'file' && !(await contents.has(target.hash)))
      throw appError('content_expired', { path })
}

/**
 * Restores the targets in `different`. Removes folders that were added since if nothing else is in them. Throws `conflict`
 * when a folder in the way contains files that no checkpoint knows.
 */
export async function applyTargets(
  { workspace, pool }: Pick<CaptureTools, 'workspace' | 'pool'>,
  different: Awaited<ReturnType<typeof findDifferences>>,
  contents: ContentStore,
): Promise<void> {
  const paths = [...different.keys()].sort()
  const of = (path: string) => different.get(path) ?? { now: null, target: null }
  const options = { deferSync: true }
  const slot = pLimit(CONCURRENCY)
  // Deepest first, so that folders are empty when they are removed.
  const inTheWay = paths.toReversed().filter((path) => {
    const { now, target } = of(path)
    return now !== null && now.kind !== target?.kind
  })
  const isFolder = (path: string): boolean => of(path).now?.kind === 'directory'
  await slot.map(
    inTheWay.filter((path) => !isFolder(path)),
    (path) => workspace.remove(path, options),
  )
  for (const path of inTheWay.filter(isFolder))
    if (!(await workspace.removeEmptyFolder(path)) && of(path).target !== null)
      throw appError('folder_in_the_way', { path })
  for (const path of paths)
    if (of(path).target?.kind === 'directory') await workspace.restoreFolder(path, options)
  await slot.map(paths, async (path) => {
    const { now, target } = of(path)
    if (target?.kind === 'file')
      await workspace.copyIn(path, contents.pathOf(target.hash), target.mode, options)
    else if (target?.kind === 'link') {
      if (now?.kind === 'link') await workspace.remove(path, options)
      await workspace.createLink(path, target.target)
    }
  })
  await pool.run(
    'sync_paths',
    { root: workspace.root, paths },
    { timeoutMs: SYNC_TIMEOUT_MS, owner: workspace.userId },
  )
}

/** Undoes a change without a checkpoint: the current contents are not stored. */
export async function revertPaths(
  steps: readonly UndoStep[],
  tools: Pick<CaptureTools, 'workspace' | 'pool'> & { contents: ContentStore },
): Promise<void> {
  for (const step of steps)
    if (step.kind === 'restore') {
      const different = await findDifferences(step.targets, { ...tools, known: new Map() })
      await applyTargets(tools, different, tools.contents)
    }
}
