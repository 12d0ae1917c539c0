// Starts a stream of server-sent events and keeps it alive.
import type { FastifyReply } from 'fastify'

const HEARTBEAT_MS = 10_000
/** A client that reads nothing for this long is disconnected. */
export const STALL_MS = 30_000

/**
 * Takes over the response from Fastify, including the headers set so far, and sends its head. The response to a HEAD
 * request is ended.
 */
export function beginEventStream(reply: FastifyReply): FastifyReply['raw'] {
  const response = reply.raw
  reply.hijack()
  response.writeHead(200, {
    ...Object.fromEntries(Object.entries(reply.getHeaders())),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-store, must-revalidate',
    'x-accel-buffering': 'no',
    connection: 'keep-alive',
  })
  if (reply.request.method === 'HEAD') {
    // Send the head now: Node would send it only at the end. Writes after the client disconnected are not an error.
    response.on('error', () => {})
    response.end()
  }
  return response
}

/** Writes a comment line every ten seconds. Returns a function that stops it. */
export function keepAlive(write: (comment: string) => void): () => void {
  const timer = setInterval(() => write(': ping\n\n'), HEARTBEAT_MS)
  timer.unref()
  return () => clearInterval(timer)
}
