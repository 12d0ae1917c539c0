// The queue of exports and imports: runs a few at once and stores the outcome of each.
import type { TransferRow } from '../db/repositories/conversations/transfers.ts'
import type { Store } from '../db/store.ts'
import { createFairQueue } from '../lib/fair-queue.ts'
import type { DescribedFailure } from '../protocol/failures/stored.ts'
import type { TransferId } from '../protocol/ids.ts'

const PROGRESS_EVERY_MS = 500
/** Maximum jobs of a kind at once, of all users. Exports do not wait for imports. */
const MAX_CONCURRENT = 2

/** The columns of a job that change as it proceeds. */
export type JobChanges = Parameters<Store['transfers']['update']>[1]

/** An export or import in the queue. */
export interface Job {
  /** Performs the job until the queue's `signal` aborts it. Resolves with the changes to store on completion. */
  work(): Promise<JobChanges>
  /** The failure to show to the user for an error that `work` threw. */
  failureOf(error: unknown): DescribedFailure
  /** Further changes to store for a job that failed. */
  changesOnFailure?(): JobChanges
}

/** Performs exports and imports in the background. */
export interface JobQueue {
  /** Aborts when `stop` is called. */
  signal: AbortSignal
  /** Queues a job whose row is stored as queued. `end` is called when it has ended, whatever its outcome. */
  add(row: TransferRow, job: Job, end: () => Promise<void>): void
  /**
   * Returns a function that stores the progress of a job: a new total at once, everything else at most every half second.
   */
  progressOf(id: TransferId): (progress: { done: number; total?: number }) => void
  /**
   * Aborts the running jobs and resolves when they have ended. Their rows stay unchanged, so that the next start finds
   * them.
   */
  stop(): Promise<void>
}

/** Limits how many jobs run at once; `now` gives the times of their begin and end. */
export function createJobQueue({
  transfers,
  log,
  now,
}: {
  transfers: Pick<Store['transfers'], 'update'>
  log: { warn(details: object, message: string): void }
  now(): Date
}): JobQueue {
  const fair = () => createFairQueue({ size: MAX_CONCURRENT, perOwner: 1 })
  const queues = { export: fair(), import: fair() }
  const stopping = new AbortController()
  const tasks = new Set<Promise<void>>()

  async function run(
    { id }: TransferRow,
    { work, failureOf, changesOnFailure }: Job,
  ): Promise<void> {
    if (stopping.signal.aborted) return
    try {
      await transfers.update(id, { status: 'running' })
      const result = await work()
      await transfers.update(id, { ...result, status: 'completed', endedAt: now() })
    } catch (error) {
      // The next start reports that it was interrupted.
      if (stopping.signal.aborted) return
      const { message: _message, ...failure } = failureOf(error)
      await transfers.update(id, {
        ...changesOnFailure?.(),
        failure,
        status: 'failed',
        endedAt: now(),
      })
    }
  }

  return {
    signal: stopping.signal,

    add(row, job, end) {
      const task = queues[row.kind]
        .run(row.userId, () => run(row, job))
        .catch((error: unknown) =>
          log.warn({ err: error, id: row.id }, 'a transfer could not be stored'),
        )
        .finally(end)
        .finally(() => tasks.delete(task))
      tasks.add(task)
    },

    progressOf(id) {
      let last = 0
      return (progress) => {
        const at = performance.now()
        if (at - last < PROGRESS_EVERY_MS && progress.total === undefined) return
        last = at
        void transfers
          .update(id, progress)
          .catch((error: unknown) => log.warn({ err: error, id }, 'progress could not be stored'))
      }
    },

    async stop() {
      stopping.abort(new Error('The server is shutting down'))
      await Promise.all(tasks)
    },
  }
}
