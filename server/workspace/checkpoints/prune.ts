// Which checkpoints of a project are too many or too old, and their removal.
import type { CheckpointRepository } from '../../db/repositories/checkpoints.ts'
import type { ProjectId } from '../../protocol/ids.ts'
import type { WorkerPool } from '../worker/worker-pool.ts'
import type { Workspace } from '../workspace.ts'
import type { ProjectTurns } from './project-turns.ts'
import { SNAPSHOT_MS } from './record-change.ts'
import type { SnapshotInput } from './snapshot.ts'

export interface PruneRule {
  /** Most checkpoints per project. */
  keep: number
  /** Days after which a checkpoint is removed. */
  maxAgeDays: number
  /** Bytes of stored contents per project; the oldest checkpoints are removed until they fit. */
  maxBytes: number
}

const DAY_MS = 24 * 60 * 60_000

/** The ids to remove, given all checkpoints newest first. The newest always stays. */
export const prunable = (
  newestFirst: readonly { id: string; createdAt: Date }[],
  rule: PruneRule,
  now: Date,
): string[] =>
  newestFirst
    .filter(
      ({ createdAt }, place) =>
        place > 0 &&
        (place >= rule.keep || now.getTime() - createdAt.getTime() > rule.maxAgeDays * DAY_MS),
    )
    .map(({ id }) => id)

/** Old checkpoints are looked for after this many new ones of a project. */
const PRUNE_EVERY = 20

/** Returns the function to call after every change; it never throws. */
export function createPruner(dependencies: {
  records: CheckpointRepository
  turns: Pick<ProjectTurns, 'alone'>
  pool: WorkerPool
  rule: PruneRule
  snapshotInput(workspace: Workspace): SnapshotInput
  log: { warn(details: object, message: string): void }
}): (workspace: Workspace) => void {
  const { records, turns, pool, rule, snapshotInput, log } = dependencies
  const sinceLastPrune = new Map<ProjectId, number>()

  /** Removes contents that no checkpoint refers to; while there are too many bytes, the oldest checkpoints too. */
  const dropUnneeded = async (workspace: Workspace): Promise<void> => {
    for (;;) {
      const rows = await records.since(workspace.projectId, '')
      const needed = new Set<string>()
      for (const { id } of rows)
        for await (const files of records.pages(id))
          for (const { before } of files) if (before?.kind === 'file') needed.add(before.hash)
      const { bytes } = await pool.run(
        'collect_contents',
        { ...snapshotInput(workspace), needed, maxBytes: rule.maxBytes },
        { timeoutMs: SNAPSHOT_MS },
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
    // In a turn of its own, so that only the next change waits for it.
    turns
      .alone(projectId, async () => {
        await records.remove(prunable(await records.ages(projectId), rule, new Date()))
        await dropUnneeded(workspace)
      })
      .catch((fault: unknown) => log.warn({ err: fault }, 'Old checkpoints could not be removed'))
  }
}
