// Limits the event streams that one user may have open: each costs a connection and a listener of a run log.
import type { FastifyInstance } from 'fastify'
import { appError } from '../errors.ts'
import type { UserId } from '../protocol/ids.ts'

/**
 * Refuses (429) a route marked `config.stream` for a user who already has `most` of them open, before the handler
 * starts anything.
 */
export function limitStreams(app: Pick<FastifyInstance, 'addHook'>, most: number): void {
  const open = new Map<UserId, number>()
  app.addHook('preHandler', async (request, reply) => {
    if (request.routeOptions.config.stream !== true) return
    // A client that has already left emits no further `close` and would be counted forever.
    if (reply.raw.destroyed) return
    const { id } = request.user
    const count = open.get(id) ?? 0
    if (count >= most) throw appError('streams_exhausted', { limit: most }, { retryAfter: 5 })
    open.set(id, count + 1)
    reply.raw.once('close', () => {
      const left = (open.get(id) ?? 1) - 1
      if (left === 0) open.delete(id)
      else open.set(id, left)
    })
  })
}
