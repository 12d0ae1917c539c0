// Worker threads for work that would block the event loop; a job is stopped by terminating its thread.
import type { Worker } from 'node:worker_threads'
import { AppError, appError } from '../../errors.ts'
import { onAbort } from '../../lib/abort.ts'
import { startWorker } from '../../lib/child-entry.ts'
import { explainFault } from '../files/faults.ts'
import type { JobKind, JobResult, Jobs } from './jobs.child.ts'

export interface WorkerPool {
  /**
   * Runs one job in a thread. After `timeoutMs` of work, or when the signal is aborted, the thread is terminated and
   * the job rejects with `bad_request`. Jobs of one `owner` run one at a time and do not delay those of others. Errors
   * of the job itself arrive as `AppError` or `Error`.
   */
  run<Kind extends JobKind>(
    kind: Kind,
    input: Jobs[Kind]['input'],
    options: { timeoutMs: number; signal?: AbortSignal; owner?: string },
  ): Promise<Jobs[Kind]['output']>
  close(): Promise<void>
}

const IDLE_MS = 30_000
/** Loading a thread is not part of its job's time: on a busy machine it takes longer than many jobs. */
const START_MS = 60_000
const MEMORY_MB = 512

/** At most `size` jobs at once; a thread ends after half a minute without work. */
export function createWorkerPool(size: number): WorkerPool {
  const idle: { worker: Worker; timer: NodeJS.Timeout }[] = []
  const waiting: { owner: string | undefined; begin: () => void }[] = []
  const working = new Set<string>()
  let busy = 0
  let closed = false

  const enter = async (owner: string | undefined): Promise<void> => {
    if (busy < size && (owner === undefined || !working.has(owner))) {
      busy++
      if (owner !== undefined) working.add(owner)
    } else await new Promise<void>((begin) => waiting.push({ owner, begin }))
  }
  /** Gives the slot to the job that has waited longest and whose owner has nothing running. */
  const leave = (owner: string | undefined): void => {
    busy--
    if (owner !== undefined) working.delete(owner)
    for (let at = 0; at < waiting.length && busy < size; ) {
      const next = waiting[at]
      if (next === undefined) return
      if (next.owner !== undefined && working.has(next.owner)) {
        at++
        continue
      }
      waiting.splice(at, 1)
      busy++
      if (next.owner !== undefined) working.add(next.owner)
      next.begin()
    }
  }
  const take = async (): Promise<Worker> => {
    const spare = idle.pop()
    if (spare === undefined) {
      const worker = startWorker('workspace/worker/jobs.child', {
        resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
      })
      // An idle thread may fail too; without a listener its error would end the process.
      worker.on('error', () => {
        const place = idle.findIndex((entry) => entry.worker === worker)
        if (place >= 0) clearTimeout(idle.splice(place, 1)[0]?.timer)
      })
      await started(worker)
      // A thread alone does not keep the process running.
      worker.unref()
      return worker
    }
    clearTimeout(spare.timer)
    return spare.worker
  }
  const giveBack = (worker: Worker): void => {
    const timer = setTimeout(() => {
      const place = idle.findIndex((entry) => entry.worker === worker)
      if (place >= 0) idle.splice(place, 1)
      worker.terminate().catch(() => {})
    }, IDLE_MS)
    timer.unref()
    if (!closed) return void idle.push({ worker, timer })
    clearTimeout(timer)
    worker.terminate().catch(() => {})
  }

  return {
    async run(kind, input, { timeoutMs, signal, owner }) {
      await enter(owner)
      try {
        const worker = await take()
        const result = await askOnce(worker, { kind, input }, timeoutMs, signal)
        giveBack(worker)
        if (!result.ok) throw errorOfJob(result)
        // The output of a job has the type of its kind; messages between threads carry no types.
        return result.output as Jobs[typeof kind]['output']
      } finally {
        leave(owner)
      }
    },
    async close() {
      closed = true
      for (const { worker, timer } of idle.splice(0)) {
        clearTimeout(timer)
        await worker.terminate()
      }
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
  return explainFault(Object.assign(new Error(result.message), { code: result.code }), '')
}

/** Resolves once the thread has loaded. */
function started(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(timer)
      worker.off('message', onReady)
      worker.off('error', fail)
      worker.off('exit', onExit)
      settle()
    }
    const fail = (error: Error): void =>
      end(() => {
        worker.terminate().catch(() => {})
        reject(error)
      })
    const onReady = (): void => end(resolve)
    const onExit = (): void => fail(new Error('The worker thread ended while it started'))
    const timer = setTimeout(() => fail(new Error('The worker thread did not start')), START_MS)
    worker.once('message', onReady)
    worker.on('error', fail)
    worker.on('exit', onExit)
  })
}

function askOnce(
  worker: Worker,
  job: unknown,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<JobResult> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(timer)
      release()
      worker.off('message', onMessage)
      worker.off('error', stop)
      worker.off('exit', onExit)
      worker.unref()
      settle()
    }
    const stop = (error: Error): void =>
      end(() => {
        // A listener for a last error of the terminated thread, which would otherwise end the process.
        worker.on('error', () => {})
        worker.terminate().catch(() => {})
        reject(error)
      })
    const onMessage = (result: JobResult): void => end(() => resolve(result))
    const onExit = (): void => stop(new Error('The worker thread ended'))
    let release = (): void => {}
    const timer = setTimeout(
      () => stop(appError('work_too_slow', { seconds: timeoutMs / 1000 })),
      timeoutMs,
    )
    worker.on('message', onMessage)
    worker.on('error', stop)
    worker.on('exit', onExit)
    if (signal?.aborted) return stop(appError('work_stopped'))
    if (signal !== undefined) release = onAbort(signal, () => stop(appError('work_stopped')))
    worker.ref()
    worker.postMessage(job)
  })
}
