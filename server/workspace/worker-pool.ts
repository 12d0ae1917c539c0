// Worker threads for work that would hold up the server: each job can be stopped by ending its thread.
import type { Worker } from 'node:worker_threads'
import { AppError } from '../errors.ts'
import { startWorker } from '../lib/child-entry.ts'
import { explainFault } from './faults.ts'
import type { JobAnswer, JobKind, Jobs } from './jobs.child.ts'

export interface WorkerPool {
  /**
   * Does one job in a thread. After `timeoutMs`, or when the signal aborts, the thread is ended and the job rejects
   * with `bad_request` (it took too long). What the job itself throws comes as an `AppError` or an `Error`.
   */
  run<Kind extends JobKind>(
    kind: Kind,
    input: Jobs[Kind]['input'],
    options: { timeoutMs: number; signal?: AbortSignal },
  ): Promise<Jobs[Kind]['output']>
  close(): Promise<void>
}

const IDLE_MS = 30_000
const MEMORY_MB = 512

/** At most `size` jobs at once; a thread that has done nothing for half a minute ends. */
export function createWorkerPool(size: number): WorkerPool {
  const idle: { worker: Worker; timer: NodeJS.Timeout }[] = []
  const waiting: (() => void)[] = []
  let busy = 0
  let closed = false

  const enter = async (): Promise<void> => {
    if (busy < size) busy++
    else await new Promise<void>((resolve) => waiting.push(resolve))
  }
  const leave = (): void => {
    const next = waiting.shift()
    if (next === undefined) busy--
    else next()
  }
  const take = (): Worker => {
    const spare = idle.pop()
    if (spare === undefined) {
      const worker = startWorker('workspace/jobs.child', {
        resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
      })
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
    async run(kind, input, { timeoutMs, signal }) {
      await enter()
      try {
        const worker = take()
        const answer = await askOnce(worker, { kind, input }, timeoutMs, signal)
        giveBack(worker)
        if (!answer.ok) {
          if (answer.code === null)
            throw new AppError(answer.fault ?? 'bad_request', answer.message)
          throw explainFault(Object.assign(new Error(answer.message), { code: answer.code }), '')
        }
        // The thread answers a job of this kind with this kind of output; messages themselves carry no types.
        return answer.output as Jobs[typeof kind]['output']
      } finally {
        leave()
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

function askOnce(
  worker: Worker,
  job: unknown,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<JobAnswer> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      worker.off('message', onMessage)
      worker.off('error', stop)
      worker.off('exit', onExit)
      worker.unref()
      settle()
    }
    const stop = (error: Error): void =>
      end(() => {
        // A listener for a last fault of the dying thread, which would else end the process.
        worker.on('error', () => {})
        worker.terminate().catch(() => {})
        reject(error)
      })
    const onMessage = (answer: JobAnswer): void => end(() => resolve(answer))
    const onExit = (): void => stop(new Error('The worker thread ended'))
    const onAbort = (): void => stop(new AppError('bad_request', 'The work was stopped.'))
    const timer = setTimeout(
      () => stop(new AppError('bad_request', `The work took longer than ${timeoutMs / 1000} s.`)),
      timeoutMs,
    )
    worker.on('message', onMessage)
    worker.on('error', stop)
    worker.on('exit', onExit)
    if (signal?.aborted) return onAbort()
    signal?.addEventListener('abort', onAbort, { once: true })
    worker.ref()
    worker.postMessage(job)
  })
}
