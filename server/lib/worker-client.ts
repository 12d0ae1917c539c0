// The server's side of a worker thread: requests and replies, time limits, aborts, crashes, idle threads.
import type { Worker, WorkerOptions } from 'node:worker_threads'
import { abortError, onAbort } from './abort.ts'
import { type ChildPath, startWorker } from './child-entry.ts'

/** What the server sends to a thread. */
export interface WorkerRequest<Request> {
  id: number
  request: Request
}
/** What a thread sends back: `ready` once it has loaded, then one reply per request. */
export type WorkerMessage<Reply> = 'ready' | { id: number; reply: Reply }

/** The one way to talk to a worker thread: requests with their replies, time limits and restarts. */
export interface WorkerClient<Request, Reply> {
  /**
   * Sends one request and resolves with its reply; starts the thread when none is running. `timeoutMs` counts from the
   * moment the loaded thread gets the request.
   *
   * Nothing but termination stops synchronous work. When a request times out or its signal is aborted, the thread is
   * terminated, and every request it had not answered rejects with the same error. The next request starts a new thread.
   * If the thread crashes, its requests reject with the cause.
   */
  request(request: Request, options: { timeoutMs: number; signal?: AbortSignal }): Promise<Reply>
  /** Terminates the thread; requests without a reply reject with `reason`. A later request would start a new thread. */
  close(reason?: Error): Promise<void>
}

interface Pending<Reply> {
  resolve(reply: Reply): void
  reject(error: unknown): void
}
interface Thread {
  worker: Worker
  ready: Promise<void>
}

/** A client for the program at `place`, which must call `serveRequests`. It runs at most one thread at a time. */
export function createWorkerClient<Request, Reply>(
  place: ChildPath,
  options: {
    worker?: Omit<WorkerOptions, 'eval'>
    /** Loading is not part of a request's time: on a busy machine it takes longer than many requests. */
    startTimeoutMs: number
    /** An idle thread is terminated after this time. */
    idleMs: number
    timeoutError(timeoutMs: number): Error
    /** Without it, an aborted request rejects with the signal's reason. */
    abortedError?(): Error
  },
): WorkerClient<Request, Reply> {
  const pending = new Map<number, Pending<Reply>>()
  let thread: Thread | undefined
  let lastId = 0
  let idleTimer: NodeJS.Timeout | undefined

  const terminate = async (reason: unknown): Promise<void> => {
    clearTimeout(idleTimer)
    const ending = thread
    thread = undefined
    for (const { reject } of pending.values()) reject(reason)
    await ending?.worker.terminate()
  }

  const start = (): Thread => {
    const worker = startWorker(place, options.worker)
    let loaded = (): void => {}
    const started: Thread = {
      worker,
      ready: new Promise((resolve) => {
        loaded = resolve
      }),
    }
    const fail = (error: Error): void => {
      if (thread === started) void terminate(error)
    }
    // These listeners stay for good: an error without a listener, also of an idle thread, would end the process.
    worker.on('error', fail)
    worker.on('exit', () => fail(new Error('The worker thread ended')))
    worker.on('message', (message: WorkerMessage<Reply>) => {
      if (message === 'ready') loaded()
      else pending.get(message.id)?.resolve(message.reply)
    })
    return started
  }

  /** A thread without requests neither keeps the process running nor stays for long. */
  const rest = (): void => {
    thread?.worker.unref()
    clearTimeout(idleTimer)
    idleTimer = setTimeout(() => void terminate(new Error('Idle')), options.idleMs).unref()
  }

  return {
    request: (request, { timeoutMs, signal }) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) throw options.abortedError?.() ?? abortError(signal)
        clearTimeout(idleTimer)
        thread ??= start()
        const { worker, ready } = thread
        worker.ref()
        const id = ++lastId
        let timer = setTimeout(
          () => void terminate(new Error('The worker thread did not start in time')),
          options.startTimeoutMs,
        )
        let release = (): void => {}
        const settle = (): void => {
          clearTimeout(timer)
          release()
          pending.delete(id)
          if (pending.size === 0 && thread !== undefined) rest()
        }
        pending.set(id, {
          resolve(reply) {
            settle()
            resolve(reply)
          },
          reject(error) {
            settle()
            reject(error)
          },
        })
        if (signal !== undefined)
          release = onAbort(
            signal,
            () => void terminate(options.abortedError?.() ?? abortError(signal)),
          )
        const send = (): void => {
          if (!pending.has(id)) return
          clearTimeout(timer)
          timer = setTimeout(() => void terminate(options.timeoutError(timeoutMs)), timeoutMs)
          worker.postMessage({ id, request } satisfies WorkerRequest<Request>)
        }
        // What cannot be cloned fails alone.
        ready.then(send).catch((error: unknown) => pending.get(id)?.reject(error))
      }),
    close: (reason = new Error('The worker thread was closed')) => terminate(reason),
  }
}
