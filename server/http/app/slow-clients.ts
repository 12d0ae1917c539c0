// Bounds what slow, silent and non-HTTP clients can occupy: the time of a connection, and the memory of large responses.

import { randomUUID } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { ConnectionError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { appError, errorText } from '../../errors.ts'
import { createFairQueue } from '../../lib/fair-queue.ts'
import { REQUEST_ID_HEADER, toErrorBody } from '../error-handler.ts'

/** Progress checks per time limit of an upload. */
const UPLOAD_CHECKS = 6

/**
 * Disconnects clients whose JSON body does not arrive within `limitMs`. An upload may take longer, but must not pause for
 * `limitMs`.
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
  // Routes read uploads themselves; all other bodies are read before.
  app.addHook('preValidation', async (request) => {
    if (request.raw.complete) await endWatch(request)
  })
  app.addHook('onResponse', endWatch)
}

/** How long a client that was answered before the end of its body may send nothing, and how long it may go on sending. */
const UNREAD = { silentMs: 2_000, limitMs: 30_000 }

/**
 * Closes the connections of clients that do not send the rest of a body to which they already have the answer, such as a
 * refusal. One that goes on sending gets time to notice the answer: closed at once, it would see a broken connection instead.
 */
export function closeUnfinishedBodies(
  app: Pick<FastifyInstance, 'server'>,
  { silentMs, limitMs } = UNREAD,
): void {
  app.server.on('request', (request, response) => {
    response.once('finish', () => {
      if (request.complete) return
      const { socket } = request
      const answeredAt = performance.now()
      let seen = socket.bytesRead
      const watch = setInterval(() => {
        const isSilent = socket.bytesRead === seen
        seen = socket.bytesRead
        if (request.complete || socket.destroyed) clearInterval(watch)
        else if (isSilent || performance.now() - answeredAt > limitMs) socket.destroy()
      }, silentMs).unref()
      // Of the request, because its connection may go on to serve thousands more.
      request.once('close', () => clearInterval(watch))
    })
  })
}

/**
 * Rejects requests with two Host headers: this server and a proxy could each trust a different one (RFC 9112, 3.2).
 * @throws AppError 400.
 */
export function refuseSecondHost(request: IncomingMessage): void {
  const { rawHeaders } = request
  let hosts = 0
  // Names and values alternate. Only names of four letters are compared, because every request comes through here.
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  if (hosts > 1) throw appError('host_repeated')
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
    // A paused socket counts as progress: then the server is slow, not the client.
    if (request.complete || socket.destroyed) clearInterval(watch)
    else if (silent >= UPLOAD_CHECKS && !socket.isPaused()) socket.destroy()
  }, limitMs / UPLOAD_CHECKS)
  return watch
}

/**
 * Disconnects clients that read nothing of a response for `limitMs`, and connections without an active request that are
 * silent for as long. Node checks whether a write has progressed since its last check, so the limit is split into two
 * checks.
 */
export function dropStalledReaders(
  app: Pick<FastifyInstance, 'server' | 'addHook'>,
  limitMs: number,
): void {
  const activeRequests = new WeakMap<Socket, number>()
  const count = (socket: Socket, change: number): void => {
    activeRequests.set(socket, (activeRequests.get(socket) ?? 0) + change)
  }
  app.server.on('request', ({ socket }, response) => {
    count(socket, 1)
    response.once('close', () => count(socket, -1))
  })
  app.server.setTimeout(limitMs / 2, (socket) => {
    const waitsForServer = (activeRequests.get(socket) ?? 0) > 0 && socket.writableLength === 0
    if (!waitsForServer) socket.destroy()
  })
}

const reasonOf = (code: string | undefined) => {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large'
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout'
  return 'request_malformed'
}

/** Responds to a request that could not be parsed, in the error envelope, and closes the connection. */
export function answerClientError(
  error: ConnectionError,
  socket: { writable: boolean; end(text: string): unknown; destroy(): unknown },
  requestId: string,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const failure = appError(reasonOf(error.code))
  const body = JSON.stringify(toErrorBody(failure, requestId))
  socket.end(
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${REQUEST_ID_HEADER}: ${requestId}\r\nConnection: close\r\n\r\n${body}`,
  )
}

/** Larger responses are written to disk before they are sent, so that a slow client costs no memory. */
const LARGE_CHARACTERS = 512 * 1024
/** Responses of `config.large` routes that are in memory at the same time, for all users and for one. */
const MAX_PREPARED = 2
const MAX_OF_ONE_USER = 1

/**
 * A route marked `config.large` waits for a slot before its handler runs, and releases it when its response has left
 * memory, however slowly the client reads. Users take turns.
 * @param folder where responses are spooled; without it, as in tests of single routes, they are sent from memory.
 */
export function boundLargeResponses(
  app: Pick<FastifyInstance, 'addHook'>,
  folder: string | undefined,
): void {
  const slots = createFairQueue({ size: MAX_PREPARED, perOwner: MAX_OF_ONE_USER })
  const releases = new WeakMap<FastifyReply, () => void>()

  app.addHook('preHandler', (request, reply, next) => {
    if (request.routeOptions.config.large !== true) return next()
    void slots.run(
      request.user.id,
      () =>
        new Promise<void>((release) => {
          // If the client disconnected while waiting, no further `close` is emitted.
          if (reply.raw.destroyed) return release()
          releases.set(reply, release)
          reply.raw.once('close', release)
          next()
        }),
    )
  })

  app.addHook('onSend', async (request, reply, payload) => {
    try {
      if (folder === undefined || typeof payload !== 'string') return payload
      if (payload.length < LARGE_CHARACTERS) return payload
      const { size, stream } = await spool(folder, payload)
      void reply.header('content-length', size)
      return stream
    } catch (error) {
      // For example, if the disk is full.
      request.log.warn({ cause: errorText(error) }, 'a large response is sent from memory')
      return payload
    } finally {
      releases.get(reply)?.()
    }
  })
}

/** Writes the text to a file that is removed when the stream closes or the process ends. */
async function spool(folder: string, text: string): Promise<{ size: number; stream: Readable }> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `response-${randomUUID()}`)
  const handle = await open(path, 'wx+', 0o600)
  try {
    await rm(path)
    await handle.writeFile(text)
    const { size } = await handle.stat()
    return { size, stream: handle.createReadStream({ start: 0 }) }
  } catch (error) {
    await handle.close()
    throw error
  }
}
