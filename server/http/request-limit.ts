// Limits how many requests each signed-in user may send per minute.
import { appError } from '../errors.ts'
import type { Limits } from '../lib/limits.ts'
import type { UserId } from '../protocol/ids.ts'
import type { App } from './app.ts'

const MINUTE_MS = 60_000

/** Call it after registering authentication. @param limitOf null for no limit. */
export function limitRequests(
  app: App,
  limits: Limits,
  limitOf: (userId: UserId) => number | null,
): void {
  const allowance = limits.rateLimit('requests', { limit: 0, windowMs: MINUTE_MS })
  app.addHook('onRequest', async (request) => {
    // Not set on public routes, whatever its type says.
    const user: typeof request.user | null | undefined = request.user
    if (user == null || request.routeOptions.config.public === true) return
    const limit = limitOf(user.id)
    if (limit === null) return
    const seconds = await allowance.take(user.id, 1, limit)
    if (seconds !== null)
      throw appError('requests_exhausted', { limit, seconds }, { retryAfter: seconds })
  })
}
