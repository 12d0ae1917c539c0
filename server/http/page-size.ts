// How many items one page of any list may have: the limit of the configuration in place of the usual one.
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { PageQuery, pageLimit } from '../protocol/envelope.ts'

/** Applies to all routes registered later, and to what the API reference says about them. */
export function boundPages(app: Pick<FastifyInstance, 'addHook'>, mostItems: number): void {
  const bounded = pageLimit(mostItems).optional()
  app.addHook('onRoute', ({ schema }) => {
    const query = schema?.querystring
    if (!(query instanceof z.ZodObject) || query.shape.limit !== PageQuery.shape.limit) return
    if (schema !== undefined) schema.querystring = query.extend({ limit: bounded })
  })
}
