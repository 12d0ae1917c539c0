// Parses JSON bodies and checks their depth and array lengths before any code walks the value.
import type { FastifyInstance } from 'fastify'
import { appError } from '../errors.ts'

export const DEFAULT_JSON_DEPTH = 64
const MAX_ARRAY_LENGTH = 10_000

/**
 * Parses `application/json`. An empty or missing body becomes `{}` if the route declares a body, so that a route with only
 * optional fields can be called without one, and validation names missing required fields.
 */
export function registerJsonBodies(
  app: Pick<
    FastifyInstance,
    'addHook' | 'addContentTypeParser' | 'getDefaultJsonParser' | 'removeContentTypeParser'
  >,
  maxDepth: number,
): void {
  const parse = app.getDefaultJsonParser('remove', 'remove')
  app.removeContentTypeParser(['application/json', 'text/plain'])
  app.addContentTypeParser<string>(
    'application/json',
    { parseAs: 'string' },
    (request, body, done) => {
      if (body.trim() === '') done(null, undefined)
      else void parse(request, body, done)
    },
  )
  app.addHook('preValidation', async (request) => {
    if (request.body === undefined && request.routeOptions.schema?.body !== undefined) {
      request.body = {}
      return
    }
    assertBounded(request.body, maxDepth, request.routeOptions.config.longArrays === true)
  })
}

/** @throws AppError 400 when the value is nested too deep or contains an array of more than 10,000 entries. */
function assertBounded(value: unknown, maxDepth: number, longArrays: boolean): void {
  const open: { node: unknown; depth: number }[] = [{ node: value, depth: 1 }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, depth } = next
    if (typeof node !== 'object' || node === null) continue
    if (depth > maxDepth) throw appError('json_too_deep', { levels: maxDepth })
    if (Array.isArray(node) && node.length > MAX_ARRAY_LENGTH && !longArrays)
      throw appError('json_list_too_long', { entries: MAX_ARRAY_LENGTH })
    for (const child of Object.values(node))
      if (typeof child === 'object' && child !== null) open.push({ node: child, depth: depth + 1 })
  }
}
