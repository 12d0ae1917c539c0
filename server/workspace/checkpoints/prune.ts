// Removes checkpoints that are too old, too many or too large, and stored contents that no checkpoint needs.
import type { CheckpointRepository } from '../../db/repositories/projects/checkpoints.ts'
import type { StorageRepository } from '../../db/repositories/projects/storage.ts'
import type { ProjectId, UserId } from '../../protocol/ids.ts'
import type { StorageQuota } from '../storage-quota.ts'
import type { WorkerPool } from '../worker/worker-pool.ts'
import type { Workspace } from '../workspace.ts'
import type { SnapshotInput } from './capture/snapshot.ts'
import { SNAPSHOT_TIMEOUT_MS } from './record-change.ts'

/** Which checkpoints to keep. The oldest are removed first. */
export interface PruneRule {
  /** Maximum number of checkpoints per project. */
  keep: number
  /** Days after which a checkpoint is removed. */
  maxAgeDays: number
  /** Bytes of stored contents per project; the oldest checkpoints are removed until they fit. */
  maxBytes: number
}

const DAY_MS = 24 * 60 * 60_000

/** The ids to remove, given all checkpoints, newest first. Never includes the newest. */
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

/** Neither method throws. A failed removal is tried again after a later change. */
export interface Pruner {
  /** Call it after every change. */
  afterChange(workspace: Workspace): void
  /** Removes checkpoints of the user's projects until everything that the user stores fits into the quota. */
  makeRoom(userId: UserId): void
}

/** `rule` says how many checkpoints a project keeps, and for how long. */
export function createPruner(dependencies: {
  records: CheckpointRepository
  histories: Pick<StorageRepository, 'histories' | 'uncounted' | 'setHistory'>
  storage: Pick<StorageQuota, 'excess'>
  open(userId: UserId, projectId: ProjectId): Workspace
  /** Exclusive access to projects. */
  access: { exclusive(projectId: ProjectId, work: () => Promise<void>): Promise<void> }
  pool: WorkerPool
  rule: PruneRule
  snapshotInput(workspace: Workspace): SnapshotInput
  log: { warn(details: object, message: string): void }
}): Pruner {
  const { records, histories, storage, access, pool, rule, snapshotInput, log } = dependencies
  const sinceLastPrune = new Map<ProjectId, number>()
  /** Users whose checkpoints are being removed; true if something was stored since that began. */
  const making = new Map<UserId, boolean>()

  /**
   * Removes contents that no checkpoint refers to and, while they take too many bytes, the oldest checkpoints: a quarter at
   * a time, and the newest only with `keep` 0. Measures what remains.
   */
  const collectGarbage = async (
    workspace: Workspace,
    maxBytes: number,
    keep: 0 | 1,
  ): Promise<void> => {
    const { projectId } = workspace
    for (;;) {
      const needed = await records.neededContents(projectId)
      const { bytes } = await pool.run(
        'collect_contents',
        { ...snapshotInput(workspace), needed: new Set(needed.keys()), maxBytes },
        { timeoutMs: SNAPSHOT_TIMEOUT_MS, owner: workspace.userId },
      )
      const rows = await records.ages(projectId)
      if (bytes <= maxBytes || rows.length <= keep) {
        await histories.setHistory(projectId, sumOf(needed))
        return
      }
      const count = Math.min(rows.length - keep, Math.ceil(rows.length / 4))
      await records.remove(rows.slice(-count).map(({ id }) => id))
    }
  }

  /** Measures first what was never measured. The project that was changed last keeps its newest checkpoint. */
  const makeRoom = async (userId: UserId): Promise<void> => {
    for (const projectId of await histories.uncounted(userId))
      await access.exclusive(projectId, async () =>
        histories.setHistory(projectId, sumOf(await records.neededContents(projectId))),
      )
    if ((await storage.excess(userId)) === 0) return
    const rows = await histories.histories(userId)
    for (const [index, { id, bytes }] of rows.entries())
      await access.exclusive(id, async () => {
        const excess = await storage.excess(userId)
        if (excess === 0) return
        const isLast = index === rows.length - 1
        await collectGarbage(
          dependencies.open(userId, id),
          Math.max(0, bytes - excess),
          isLast ? 1 : 0,
        )
      })
  }

  const makeRoomInTurn = async (userId: UserId): Promise<void> => {
    do {
      making.set(userId, false)
      await makeRoom(userId)
    } while (making.get(userId) === true)
  }

  const pruner: Pruner = {
    afterChange(workspace) {
      const { projectId, userId } = workspace
      const count = (sinceLastPrune.get(projectId) ?? 0) + 1
      sinceLastPrune.set(projectId, count % PRUNE_EVERY)
      pruner.makeRoom(userId)
      if (count < PRUNE_EVERY) return
      // Takes the lock separately, so that only the next change waits for it.
      access
        .exclusive(projectId, async () => {
          await records.remove(prunable(await records.ages(projectId), rule, new Date()))
          await collectGarbage(workspace, rule.maxBytes, 1)
        })
        .catch((error: unknown) => log.warn({ err: error }, 'Old checkpoints could not be removed'))
    },
    makeRoom(userId) {
      const isMaking = making.has(userId)
      making.set(userId, true)
      if (isMaking) return
      makeRoomInTurn(userId)
        .catch((error: unknown) => log.warn({ err: error }, 'Old checkpoints could not be removed'))
        .finally(() => making.delete(userId))
    },
  }
  return pruner
}

const sumOf = (sizes: ReadonlyMap<string, number>): number =>
  [...sizes.values()].reduce((sum, size) => sum + size, 0)
