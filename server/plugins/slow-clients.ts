// Clients that are slow, silent or speak no HTTP: each costs a bounded time and gets a clear answer.
import type { IncomingMessage } from 'node:http'
import type { ConnectionError, FastifyInstance, FastifyRequest } from 'fastify'

/** An upload is looked at this many times within its limit. */
const LOOKS = 6

/**
 * A JSON body has to arrive within `limitMs`. An upload may take longer, but must not pause for `limitMs`.
 * Whoever is slower is disconnected.
 */
export function guardSlowBodies(app: Pick<FastifyInstance, 'addHook'>, limitMs: number): void {
  const watches = new WeakMap<FastifyRequest, NodeJS.Timeout>()
  const endWatch = async (request: FastifyRequest): Promise<void> => {
    clearTimeout(watches.get(request))
  }
  app.addHook('preParsing', async (request, _reply, payload) => {
    const isUpload = request.headers['content-type']?.startsWith('multipart/') === true
    const watch = isUpload ? watchUpload(request.raw, limitMs) : watchBody(request.raw, limitMs)
    watches.set(request, watch.unref())
    return payload
  })
  // The body of an upload is read by its route, that of any other request before.
  app.addHook('preValidation', async (request) => {
    if (request.raw.complete) await endWatch(request)
  })
  app.addHook('onResponse', endWatch)
}

function watchBody(request: IncomingMessage, limitMs: number): NodeJS.Timeout {
  return setTimeout(() => {
    if (!request.complete) request.socket.destroy()
  }, limitMs)
}

function watchUpload(request: IncomingMessage, limitMs: number): NodeJS.Timeout {
  const { socket } = request
  let seen = socket.bytesRead
  let silent = 0
  const watch = setInterval(() => {
    silent = socket.bytesRead === seen ? silent + 1 : 0
    seen = socket.bytesRead
    // A server that reads slowly must not blame the client: what waits to be read counts as movement.
    if (request.complete || socket.destroyed) clearInterval(watch)
    else if (silent >= LOOKS && !socket.isPaused()) socket.destroy()
  }, limitMs / LOOKS)
  return watch
}

const answers: Record<string, { status: number; reason: string; message: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    reason: 'Request Header Fields Too Large',
    message: 'The request headers are too large.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    reason: 'Request Timeout',
    message: 'The request took too long to arrive.',
  },
}
const malformed = {
  status: 400,
  reason: 'Bad Request',
  message: 'This is not a valid HTTP request.',
}

/** Answers what never became a request, in the envelope, and closes the connection. */
export function answerClientError(
  error: ConnectionError,
  socket: { writable: boolean; end(text: string): unknown; destroy(): unknown },
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, reason, message } = answers[error.code] ?? malformed
  const body = JSON.stringify({ code: status, message })
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
