// The queue of exports and imports: a few run at once, and what becomes of each is stored.
import pLimit from 'p-limit'
import type { TransferRow } from '../db/repositories/conversations/transfers.ts'
import type { Store } from '../db/store.ts'
import type { DescribedFailure } from '../protocol/failures/stored.ts'
import type { TransferId } from '../protocol/ids.ts'

const PROGRESS_EVERY_MS = 500
/** Jobs that run at once, of all users. */
const MAX_CONCURRENT = 2

/** What is stored of a job as it proceeds. */
export type JobChanges = Parameters<Store['transfers']['update']>[1]

/** An export or import in the queue. */
export interface Job {
  /** Does the job, until `signal` of the queue aborts it. Resolves with what is stored when it is complete. */
  work(): Promise<JobChanges>
  /** What the user reads when `work` threw this. */
  failureOf(error: unknown): DescribedFailure
  /** What else is stored of a job that failed. */
  changesOnFailure?(): JobChanges
}

/** Performs exports and imports in the background. */
export interface JobQueue {
  /** Aborts with `stop`. */
  signal: AbortSignal
  /** Queues a job whose row is stored as queued. */
  add(row: TransferRow, job: Job): void
  /** A function that stores the progress of a job: a new total at once, all else at most every half second. */
  progressOf(id: TransferId): (progress: { done: number; total?: number }) => void
  /** Aborts what is running, and resolves when it has ended. Its rows stay as they are: the next start finds them. */
  stop(): Promise<void>
}

/** Bounded in how many jobs run at once; `now` dates their begin and end. */
export function createJobQueue({
  transfers,
  log,
  now,
}: {
  transfers: Pick<Store['transfers'], 'update'>
  log: { warn(details: object, message: string): void }
  now(): Date
}): JobQueue {
  const slot = pLimit(MAX_CONCURRENT)
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
      // The next start says that it was interrupted.
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

    add(row, job) {
      const task = slot(() => run(row, job))
        .catch((error: unknown) =>
          log.warn({ err: error, id: row.id }, 'a transfer could not be stored'),
        )
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
