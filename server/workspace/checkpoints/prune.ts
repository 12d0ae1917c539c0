// Removes checkpoints that are too old or too many, and stored contents that no checkpoint needs.
import type { CheckpointRepository } from '../../db/repositories/projects/checkpoints.ts'
import type { ProjectId } from '../../protocol/ids.ts'
import type { WorkerPool } from '../worker/worker-pool.ts'
import type { Workspace } from '../workspace.ts'
import type { SnapshotInput } from './capture/snapshot.ts'
import type { ProjectAccess } from './project-access.ts'
import { SNAPSHOT_TIMEOUT_MS } from './record/record-change.ts'

export interface PruneRule {
  /** Maximum number of checkpoints per project. */
  keep: number
  /** Days after which a checkpoint is removed. */
  maxAgeDays: number
  /** Bytes of stored contents per project; the oldest checkpoints are removed until they fit. */
  maxBytes: number
}

const DAY_MS = 24 * 60 * 60_000

/** The ids to remove, given all checkpoints newest first. Never includes the newest. */
export const prunable = (
  newestFirst: readonly { id: string; createdAt: Date }[],
  rule: PruneRule,
  now: Date,
): string[] =>
  newestFirst
    .filter(
      ({ createdAt }, index) =>
        index > 0 &&
        (index >= rule.keep || now.getTime() - createdAt.getTime() > rule.maxAgeDays * DAY_MS),
    )
    .map(({ id }) => id)

/** A project is pruned after this many changes. */
const PRUNE_EVERY = 20

/** Returns a function to call after every change; it never throws. */
export function createPruner(dependencies: {
  records: CheckpointRepository
  access: Pick<ProjectAccess, 'exclusive'>
  pool: WorkerPool
  rule: PruneRule
  snapshotInput(workspace: Workspace): SnapshotInput
  log: { warn(details: object, message: string): void }
}): (workspace: Workspace) => void {
  const { records, access, pool, rule, snapshotInput, log } = dependencies
  const sinceLastPrune = new Map<ProjectId, number>()

  /** Removes contents that no checkpoint refers to and, while they take too many bytes, the oldest checkpoints. */
  const collectGarbage = async (workspace: Workspace): Promise<void> => {
    for (;;) {
      const rows = await records.since(workspace.projectId, '')
      const needed = new Set<string>()
      for (const { id } of rows)
        for await (const files of records.pages(id))
          for (const { before } of files) if (before?.kind === 'file') needed.add(before.hash)
      const { bytes } = await pool.run(
        'collect_contents',
        { ...snapshotInput(workspace), needed, maxBytes: rule.maxBytes },
        { timeoutMs: SNAPSHOT_TIMEOUT_MS },
      )
      if (bytes <= rule.maxBytes || rows.length <= 1) return
      await records.remove(rows.slice(0, Math.ceil(rows.length / 4)).map(({ id }) => id))
    }
  }

  return (workspace) => {
    const { projectId } = workspace
    const count = (sinceLastPrune.get(projectId) ?? 0) + 1
    sinceLastPrune.set(projectId, count % PRUNE_EVERY)
    if (count < PRUNE_EVERY) return
    // Takes the lock separately, so that only the next change waits for it.
    access
      .exclusive(projectId, async () => {
        await records.remove(prunable(await records.ages(projectId), rule, new Date()))
        await collectGarbage(workspace)
      })
      .catch((error: unknown) => log.warn({ err: error }, 'Old checkpoints could not be removed'))
  }
}
