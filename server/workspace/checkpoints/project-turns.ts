// Who may change a project: one at a time, and nobody any more once it is being deleted.
import type { CheckpointRepository } from '../../db/repositories/checkpoints.ts'
import { projectDeleted } from '../../errors.ts'
import type { ProjectId } from '../../protocol/ids.ts'
import type { Lanes } from '../project-lock.ts'

export interface ProjectTurns {
  /**
   * Runs `work` alone in the project; its signal aborts when the project is deleted or `signal` aborts. Throws
   * `project_deleted`, and `store_busy` when its turn does not come.
   */
  alone<T>(
    projectId: ProjectId,
    work: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>
  /** Throws `project_deleted` when the project is being deleted. */
  assertStays(projectId: ProjectId): void
  /** See `Checkpoints.removeProject`. */
  remove(
    projectId: ProjectId,
    steps: { stop(): Promise<void>; remove(): Promise<void> },
  ): Promise<void>
}

export function createProjectTurns(
  records: Pick<CheckpointRepository, 'assertProject'>,
  lanes: Lanes,
): ProjectTurns {
  /** Projects that are being deleted, and how to end what runs in a project. */
  const leaving = new Set<ProjectId>()
  const running = new Map<ProjectId, AbortController>()
  const assertStays = (projectId: ProjectId): void => {
    if (leaving.has(projectId)) throw projectDeleted()
  }
  return {
    assertStays,
    alone: (projectId, work, signal) =>
      lanes.run(
        projectId,
        async () => {
          assertStays(projectId)
          await records.assertProject(projectId)
          const controller = new AbortController()
          running.set(projectId, controller)
          // Asked again: a deletion that began during the question found nothing to abort.
          if (leaving.has(projectId)) controller.abort(projectDeleted())
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
      leaving.add(projectId)
      running.get(projectId)?.abort(projectDeleted())
      try {
        await stop()
        await lanes.run(projectId, remove)
      } finally {
        leaving.delete(projectId)
      }
    },
  }
}
