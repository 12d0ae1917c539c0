// Limits the open event streams per user: each costs a connection and a listener of a run log.
import type { FastifyInstance } from 'fastify'
import { appError } from '../errors.ts'
import type { UserId } from '../protocol/ids.ts'

/**
 * Rejects a request to a `config.stream` route with 429, before the handler starts anything, if the user already has `max`
 * streams open.
 */
export function limitStreams(app: Pick<FastifyInstance, 'addHook'>, max: number): void {
  const open = new Map<UserId, number>()
  app.addHook('preHandler', async (request, reply) => {
    if (request.routeOptions.config.stream !== true) return
    // If the client has already disconnected, no further `close` is emitted and the stream would be counted forever.
    if (reply.raw.destroyed) return
    const { id } = request.user
    const count = open.get(id) ?? 0
    if (count >= max) throw appError('streams_exhausted', { limit: max }, { retryAfter: 5 })
    open.set(id, count + 1)
    reply.raw.once('close', () => {
      const left = (open.get(id) ?? 1) - 1
      if (left === 0) open.delete(id)
      else open.set(id, left)
    })
  })
}
