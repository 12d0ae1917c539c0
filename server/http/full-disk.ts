// While the server runs on the space that it has kept back, it refuses requests that store something.
import type { FastifyInstance } from 'fastify'
import { appError } from '../errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A POST that deletes or lets somebody sign in, so that it is permitted while the disk is full. */
    whileDiskFull?: boolean
  }
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE'])

/** Call it before the routes are registered. */
export function refuseWritesOnFullDisk(
  app: Pick<FastifyInstance, 'addHook'>,
  isFull: () => boolean,
): void {
  app.addHook('onRequest', async ({ method, routeOptions }) => {
    if (!isFull() || READS.has(method) || routeOptions.config.whileDiskFull === true) return
    throw appError('store_full', {}, { retryAfter: 60 })
  })
}
