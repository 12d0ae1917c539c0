// The approvers of a project learn at once of requests that wait for them.
import type { Store } from '../db/store.ts'
import type { Change } from '../protocol/change.ts'
import type { RunId, UserId } from '../protocol/ids.ts'

/** Publishes every change to its user, and changes of approval requests also to the approvers of the project of the run. */
export const toApprovers =
  (
    publish: (userId: UserId, change: Change) => void,
    {
      store,
      log,
    }: {
      store: Pick<Store, 'runs' | 'approvers'>
      log: { warn(details: object, message: string): void }
    },
  ) =>
  (userId: UserId, change: Change): void => {
    publish(userId, change)
    if (change.type !== 'approval') return
    publishToOthers(change.run_id).catch((error: unknown) =>
      log.warn({ err: error, run: change.run_id }, 'could not tell the approvers of a request'),
    )

    async function publishToOthers(runId: RunId): Promise<void> {
      const run = await store.runs.find(runId)
      if (run === undefined || run.projectId === null) return
      for (const approver of await store.approvers.people(run.projectId))
        if (approver !== userId) publish(approver, change)
    }
  }
