// A pool of worker threads for work that would block the event loop; a job is stopped by terminating its thread.
import { AppError, appError } from '../../errors.ts'
import { createFairQueue } from '../../lib/fair-queue.ts'
import { createWorkerClient, type WorkerClient } from '../../lib/worker-client.ts'
import { toFileError } from '../files/paths.ts'
import type { JobKind, JobResult, Jobs } from './jobs.child.ts'

/** The worker threads of the workspace. */
export interface WorkerPool {
  /**
   * Runs one job in a thread. After `timeoutMs` of work, or when the signal is aborted, terminates the thread and rejects
   * with `bad_request`. Owners take turns, and no owner can use all threads. Errors of the job reject as `AppError`.
   * `owner`: the user for whom the job runs; null if there is none.
   */
  run<Kind extends JobKind>(
    kind: Kind,
    input: Jobs[Kind]['input'],
    options: { timeoutMs: number; signal?: AbortSignal; owner: string | null },
  ): Promise<Jobs[Kind]['output']>
  close(): Promise<void>
}

const IDLE_MS = 30_000
const START_TIMEOUT_MS = 60_000
const MAX_MEMORY_MB = 512

const createClient = (): WorkerClient<unknown, JobResult> =>
  createWorkerClient('workspace/worker/jobs.child', {
    worker: { resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB } },
    startTimeoutMs: START_TIMEOUT_MS,
    idleMs: IDLE_MS,
    timeoutError: (timeoutMs) => appError('work_too_slow', { seconds: timeoutMs / 1000 }),
    abortedError: () => appError('work_stopped'),
  })

/** Runs at most `size` jobs at once; a thread ends after half a minute without work. */
export function createWorkerPool(size: number): WorkerPool {
  /** Most recently used last. That thread is reused first, so that the others can end. */
  const idle: WorkerClient<unknown, JobResult>[] = []
  const queue = createFairQueue({ size, perOwner: Math.max(1, size - 1) })
  let closed = false

  return {
    run: (kind, input, { owner, ...limits }) =>
      queue.run(owner, async () => {
        const client = idle.pop() ?? createClient()
        try {
          const result = await client.request({ kind, input }, limits)
          if (!result.ok) throw errorOfJob(result)
          // The output of a job has the type of its kind; messages between threads carry no types.
          return result.output as Jobs[typeof kind]['output']
        } finally {
          if (closed) await client.close()
          else idle.push(client)
        }
      }),
    async close() {
      closed = true
      await Promise.all(idle.splice(0).map((client) => client.close()))
    },
  }
}

function errorOfJob(result: Extract<JobResult, { ok: false }>): AppError {
  if (result.kind === 'refused') {
    const { code, reason, params } = result.error
    return new AppError(code, result.message, {
      reason,
      ...(params === undefined ? {} : { params }),
    })
  }
  if (result.code === '') return new AppError('bad_request', result.message)
  return toFileError(Object.assign(new Error(result.message), { code: result.code }), '')
}
