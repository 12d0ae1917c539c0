// Exclusive access to a project: one change at a time, and none once the project is being deleted.
import type { CheckpointRepository } from '../../db/repositories/projects/checkpoints.ts'
import type { RunAttempt } from '../../db/run-attempt.ts'
import { appError, projectDeleted } from '../../errors.ts'
import type { ProjectId } from '../../protocol/ids.ts'
import type { KeyedMutex } from '../keyed-mutex.ts'

/** Exclusive access to projects: one change of a project at a time. */
export interface ProjectAccess {
  /**
   * Runs `work` with exclusive access; its signal aborts when the project is deleted or `signal` aborts. Throws
   * `project_deleted`, and `store_busy` when the project stays locked for too long.
   */
  exclusive<T>(
    projectId: ProjectId,
    work: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>
  /** Throws `project_deleted` if the project is being deleted. */
  assertNotDeleted(projectId: ProjectId): void
  /**
   * Call it with exclusive access, before each write. Throws `project_deleted`; `project_busy` if another instance has
   * taken over and completed the change from its journal; `request_stopped` if `by` may no longer write.
   */
  assertHeld(projectId: ProjectId, by?: RunAttempt): Promise<void>
  /** See `Checkpoints.removeProject`. */
  remove(
    projectId: ProjectId,
    steps: { stop(): Promise<void>; remove(): Promise<void> },
  ): Promise<void>
}

/** Create one per process: it knows which projects are being deleted. */
export function createProjectAccess(
  records: Pick<CheckpointRepository, 'assertProject' | 'isCurrent'>,
  mutex: KeyedMutex,
): ProjectAccess {
  /** Projects that are being deleted. */
  const deleting = new Set<ProjectId>()
  /** Aborts the work that is running in a project. */
  const running = new Map<ProjectId, AbortController>()
  const assertNotDeleted = (projectId: ProjectId): void => {
    if (deleting.has(projectId)) throw projectDeleted()
  }
  return {
    assertNotDeleted,
    async assertHeld(projectId, by) {
      assertNotDeleted(projectId)
      await mutex.assertHeld(projectId)
      if (by !== undefined && !(await records.isCurrent(by))) throw appError('request_stopped')
    },
    exclusive: (projectId, work, signal) =>
      mutex.run(
        projectId,
        async () => {
          assertNotDeleted(projectId)
          await records.assertProject(projectId)
          const controller = new AbortController()
          running.set(projectId, controller)
          // Checked again: a deletion that began during the query found nothing to abort.
          if (deleting.has(projectId)) controller.abort(projectDeleted())
          try {
            return await work(
              signal === undefined
                ? controller.signal
                : AbortSignal.any([signal, controller.signal]),
            )
          } finally {
            running.delete(projectId)
          }
        },
        signal === undefined ? {} : { signal },
      ),
    async remove(projectId, { stop, remove }) {
      deleting.add(projectId)
      running.get(projectId)?.abort(projectDeleted())
      try {
        await stop()
        await mutex.run(projectId, remove)
      } finally {
        deleting.delete(projectId)
      }
    },
  }
}
