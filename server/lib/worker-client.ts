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

/** How a worker thread is started and how long it may take. */
interface WorkerClientOptions {
  worker?: Omit<WorkerOptions, 'eval'>
  /** Loading is not part of a request's time: on a busy machine it takes longer than many requests. */
  startTimeoutMs: number
  /** An idle thread is terminated after this time. */
  idleMs: number
  timeoutError(timeoutMs: number): Error
  /** Without it, an aborted request rejects with the signal's reason. */
  abortedError?(): Error
}

/** The worker thread and what waits for it. */
interface ClientState<Reply> {
  readonly place: ChildPath
  readonly options: WorkerClientOptions
  readonly pending: Map<number, Pending<Reply>>
  thread: Thread | undefined
  lastId: number
  idleTimer: NodeJS.Timeout | undefined
}

/** A client for the program at `place`, which must call `serveRequests`. It runs at most one thread at a time. */
export function createWorkerClient<Request, Reply>(
  place: ChildPath,
  options: WorkerClientOptions,
): WorkerClient<Request, Reply> {
  const client: ClientState<Reply> = {
    place,
    options,
    pending: new Map<number, Pending<Reply>>(),
    thread: undefined,
    lastId: 0,
    idleTimer: undefined,
  }
  return {
    request: (request, options) => sendRequest(client, request, options),
    close: (reason = new Error('The worker thread was closed')) => terminate(client, reason),
  }
}

async function terminate<Reply>(client: ClientState<Reply>, reason: unknown): Promise<void> {
  clearTimeout(client.idleTimer)
  const ending = client.thread
  client.thread = undefined
  for (const { reject } of client.pending.values()) reject(reason)
  await ending?.worker.terminate()
}

function start<Reply>(client: ClientState<Reply>): Thread {
  const worker = startWorker(client.place, client.options.worker)
  let loaded = (): void => {}
  const started: Thread = {
    worker,
    ready: new Promise((resolve) => {
      loaded = resolve
    }),
  }
  const fail = (error: Error): void => {
    if (client.thread === started) void terminate(client, error)
  }
  // These listeners stay for good: an error without a listener, also of an idle thread, would end the process.
  worker.on('error', fail)
  worker.on('exit', () => fail(new Error('The worker thread ended')))
  worker.on('message', (message: WorkerMessage<Reply>) => {
    if (message === 'ready') loaded()
    else client.pending.get(message.id)?.resolve(message.reply)
  })
  return started
}

/** A thread without requests neither keeps the process running nor stays for long. */
function rest<Reply>(client: ClientState<Reply>): void {
  client.thread?.worker.unref()
  clearTimeout(client.idleTimer)
  client.idleTimer = setTimeout(
    () => void terminate(client, new Error('Idle')),
    client.options.idleMs,
  ).unref()
}

const sendRequest = <Request, Reply>(
  client: ClientState<Reply>,
  request: Request,
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
): Promise<Reply> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) throw client.options.abortedError?.() ?? abortError(signal)
    clearTimeout(client.idleTimer)
    client.thread ??= start(client)
    const { worker, ready } = client.thread
    worker.ref()
    const id = ++client.lastId
    let timer = setTimeout(
      () => void terminate(client, new Error('The worker thread did not start in time')),
      client.options.startTimeoutMs,
    )
    let release = (): void => {}
    const settle = (): void => {
      clearTimeout(timer)
      release()
      client.pending.delete(id)
      if (client.pending.size === 0 && client.thread !== undefined) rest(client)
    }
    client.pending.set(id, {
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
        () => void terminate(client, client.options.abortedError?.() ?? abortError(signal)),
      )
    const send = (): void => {
      if (!client.pending.has(id)) return
      clearTimeout(timer)
      timer = setTimeout(
        () => void terminate(client, client.options.timeoutError(timeoutMs)),
        timeoutMs,
      )
      worker.postMessage({ id, request } satisfies WorkerRequest<Request>)
    }
    // What cannot be cloned fails alone.
    ready.then(send).catch((error: unknown) => client.pending.get(id)?.reject(error))
  })
