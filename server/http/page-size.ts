// Sets the maximum page size of all lists from the configuration.
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { PageQuery, pageLimit } from '../protocol/envelope.ts'

/** Applies to all routes that are registered later, and to the API reference. */
export function boundPages(app: Pick<FastifyInstance, 'addHook'>, mostItems: number): void {
  const bounded = pageLimit(mostItems).optional()
  app.addHook('onRoute', ({ schema }) => {
    const query = schema?.querystring
    if (!(query instanceof z.ZodObject) || query.shape.limit !== PageQuery.shape.limit) return
    if (schema !== undefined) schema.querystring = query.extend({ limit: bounded })
  })
}
