// The thread's side of a worker thread: what a program that `createWorkerClient` starts calls once it has loaded.
import { parentPort } from 'node:worker_threads'
import type { WorkerMessage, WorkerRequest } from './worker-client.ts'

/**
 * Answers each request with what `handle` returns. An error that `handle` throws ends the thread, and with it every
 * request in it; an error that belongs to one request is a reply.
 */
export function serveRequests<Request, Reply>(
  handle: (request: Request) => Reply | Promise<Reply>,
): void {
  const send = (message: WorkerMessage<Reply>): void => parentPort?.postMessage(message)
  parentPort?.on('message', async ({ id, request }: WorkerRequest<Request>) => {
    send({ id, reply: await handle(request) })
  })
  send('ready')
}
