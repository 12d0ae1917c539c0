// The approvers of a project learn at once of requests that wait for them.
import type { Store } from '../db/store.ts'
import type { Change } from '../protocol/change.ts'
import type { UserId } from '../protocol/ids.ts'

/** Publishes changes of a user's approval requests to the approvers of the project of the run, too. */
export const tellApprovers =
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
  (userId: UserId, change: Extract<Change, { type: 'approval' }>): void => {
    publishToOthers().catch((error: unknown) =>
      log.warn({ err: error, run: change.run_id }, 'could not tell the approvers of a request'),
    )

    async function publishToOthers(): Promise<void> {
      const run = await store.runs.find(change.run_id)
      if (run === undefined || run.projectId === null) return
      for (const approver of await store.approvers.people(run.projectId))
        if (approver !== userId) publish(approver, change)
    }
  }
