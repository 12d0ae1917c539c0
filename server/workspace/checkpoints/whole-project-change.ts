// A change by a program that may touch anything in the project: a snapshot before it, a comparison and the limits after it.
import type { CheckpointRepository } from '../../db/repositories/projects/checkpoints.ts'
import { AppError, appError } from '../../errors.ts'
import { sizeText } from '../../lib/size-text.ts'
import type { OutsideText } from '../outside-text.ts'
import type { StorageQuota } from '../storage-quota.ts'
import type { WorkerPool } from '../worker/worker-pool.ts'
import { entriesLimit, type Workspace } from '../workspace.ts'
import type { SnapshotInput } from './capture/snapshot.ts'
import {
  type ChangeOrigin,
  type ChangeRecorder,
  newChange,
  type PartTools,
  SNAPSHOT_TIMEOUT_MS,
  withResult,
} from './record-change.ts'
import { revertPaths } from './undo/restore.ts'
import { partsOfAll, undoSteps } from './undo/undo-steps.ts'

/** What the program is given to know about the project. */
export interface ProjectUse {
  /** What all entries count before the program runs. */
  usedBytes: number
  /** Maximum of what all entries may count after the run, as far as known before it. */
  maxBytes: number
  /** Files, folders and links before the program runs, and how many there may be after it. */
  usedEntries: number
  maxEntries: number
  /**
   * Reserves growth of the project to `bytes` until the change is recorded. Resolves to the bytes that all entries may count
   * now: fewer than `bytes` if these do not fit, in which case nothing is reserved.
   */
  reserve(bytes: number): Promise<number>
  /** Whether some files contain text from outside. Then anything that the program writes may contain some. */
  readsOutside: boolean
  /** Aborts when the program must end. */
  signal: AbortSignal
}

/**
 * Stores the whole project before `work` runs, which requires a scan. If the project exceeds its limit afterwards, or the
 * user's projects exceed the quota, reverts the changes and throws `project_full` (also for too many entries) or
 * `quota_exceeded`.
 */
export type WholeProjectChange = <T>(
  workspace: Workspace,
  origin: ChangeOrigin,
  work: (use: ProjectUse) => Promise<T>,
  signal?: AbortSignal,
) => Promise<T>

/** The returned function expects exclusive access to the project. */
export function createWholeProjectChange(dependencies: {
  records: CheckpointRepository
  outsideText: OutsideText
  storage: StorageQuota
  recorder: ChangeRecorder
  pool: WorkerPool
  snapshotInput(workspace: Workspace): SnapshotInput
  toolsFor(workspace: Workspace): PartTools
}) {
  const { records, outsideText, storage, recorder, pool, snapshotInput, toolsFor } = dependencies
  return async <T>(
    workspace: Workspace,
    origin: ChangeOrigin,
    work: (use: ProjectUse) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> => {
    // Creates the project's folder if it is missing.
    await workspace.state('')
    const { bytes: usedBytes, entries: usedEntries } = await pool.run(
      'take_snapshot',
      snapshotInput(workspace),
      { timeoutMs: SNAPSHOT_TIMEOUT_MS, owner: workspace.userId, signal },
    )
    const maxEntries = Math.max(usedEntries, entriesLimit(workspace.limits))
    const growth = reserveGrowth(workspace, usedBytes, storage)
    const maxBytes = await growth.room()
    const readsOutside = await outsideText.isInProject(workspace.projectId)
    const change = newChange(workspace, origin, readsOutside)
    const part = withResult(
      async () => ({ files: [], scope: 'all' as const }),
      () =>
        work({
          ...{ usedBytes, maxBytes, usedEntries, maxEntries },
          ...{ reserve: growth.reserve, readsOutside, signal },
        }).finally(growth.end),
    )
    const { bytes = 0, entries = 0 } = await recorder.perform(workspace, change, [part])
    const hasTooMany = entries > maxEntries
    if (bytes <= usedBytes && !hasTooMany) return part.result()
    const revert = async (): Promise<void> => {
      const { id } = change.row
      const { steps } = await undoSteps(partsOfAll(records, [{ id }]))
      await revertPaths(steps, toolsFor(workspace))
      await records.revert(workspace.projectId, id, usedBytes)
      workspace.forgetSize()
    }
    if (hasTooMany) {
      await revert()
      throw appError('project_would_have_too_many_entries', { limit: maxEntries })
    }
    if (bytes <= workspace.limits.project) {
      await storage.revertIfExceeded(workspace.userId, revert)
      return part.result()
    }
    await revert()
    throw appError('project_would_be_too_large', {
      size: sizeText(bytes),
      limit: sizeText(workspace.limits.project),
    })
  }
}

/** What one program reserves; recording the change releases it. */
function reserveGrowth(
  { userId, projectId, limits }: Workspace,
  usedBytes: number,
  storage: StorageQuota,
) {
  let claimed = 0
  let isOver = false
  let last = Promise.resolve()
  const room = async (): Promise<number> =>
    Math.min(limits.project, usedBytes + claimed + (await storage.left(userId)))
  const claim = async (bytes: number): Promise<void> => {
    const more = bytes - usedBytes - claimed
    if (isOver || more <= 0 || bytes > limits.project) return
    try {
      await storage.claim(userId, projectId, more)
      claimed += more
    } catch (error) {
      if (!(error instanceof AppError && error.reason === 'quota_claim_refused')) throw error
    }
  }
  return {
    room,
    async reserve(bytes: number): Promise<number> {
      const attempt = last.then(() => claim(bytes))
      last = attempt.catch(() => undefined)
      await attempt
      return room()
    },
    /** Resolves when no reservation is in progress. Call it before the change is recorded. */
    end: (): Promise<void> => {
      isOver = true
      return last
    },
  }
}
