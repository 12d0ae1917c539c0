// Clients that are slow, silent or speak no HTTP: each costs a bounded time and gets a clear answer.
import type { ConnectionError, FastifyInstance, FastifyRequest } from 'fastify'

/**
 * A JSON body has to arrive within `limitMs`. An upload may take longer, but must not pause for `limitMs`.
 * Whoever is slower is disconnected.
 */
export function guardSlowBodies(app: Pick<FastifyInstance, 'addHook'>, limitMs: number): void {
  const deadlines = new WeakMap<FastifyRequest, NodeJS.Timeout>()
  app.addHook('preParsing', async (request, _reply, payload) => {
    const { socket } = request.raw
    if (request.headers['content-type']?.startsWith('multipart/') === true) {
      request.raw.setTimeout(limitMs, () => socket.destroy())
      return payload
    }
    const deadline = setTimeout(() => socket.destroy(), limitMs)
    deadline.unref()
    deadlines.set(request, deadline)
    return payload
  })
  app.addHook('preValidation', async (request) => {
    clearTimeout(deadlines.get(request))
  })
  app.addHook('onResponse', async (request) => {
    clearTimeout(deadlines.get(request))
    request.raw.setTimeout(0)
  })
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
