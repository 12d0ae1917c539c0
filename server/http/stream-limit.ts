// Limits the open event streams per user: each costs a connection and a listener of a run log.
import type { FastifyInstance } from 'fastify'
import { appError } from '../errors.ts'
import type { Slots } from '../lib/limits.ts'

/**
 * Rejects a request to a `config.stream` route with 429, before the handler starts anything, if the user already has as many
 * streams open as there are slots.
 */
export function limitStreams(app: Pick<FastifyInstance, 'addHook'>, slots: Slots): void {
  app.addHook('preHandler', async (request, reply) => {
    if (request.routeOptions.config.stream !== true) return
    const release = await slots.take(request.user.id)
    if (release === null)
      throw appError('streams_exhausted', { limit: slots.limit }, { retryAfter: 5 })
    // If the client has already disconnected, no further `close` is emitted and the stream would be counted forever.
    if (reply.raw.destroyed) release()
    else reply.raw.once('close', release)
  })
}
