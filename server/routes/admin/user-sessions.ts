// Routes for administrators: list the sessions of an account, and end one or all of them.

import { z } from 'zod'
import { endSession, endSessions } from '../../administration/change-account.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import { Session } from '../../protocol/accounts/user.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import { UserId } from '../../protocol/ids.ts'
import type { Services } from '../../services.ts'
import { presentSession } from '../accounts/present-session.ts'
import { deleted, success } from '../envelope.ts'

/** `/api/admin/users/:id/sessions`. Ending a session takes effect at once, also on its open streams. */
export function registerAdminSessionRoutes(
  app: App,
  {
    store,
    sessions,
    apiKeys,
    connections,
  }: Pick<Services, 'store' | 'sessions' | 'apiKeys' | 'connections'>,
): void {
  const { users } = store
  app.get(
    '/api/admin/users/:id/sessions',
    {
      config: { admin: true },
      schema: {
        summary: 'List the sessions of an account, most recently used first',
        params: z.object({ id: UserId }),
        response: { 200: envelope(z.object({ items: z.array(Session) })) },
      },
    },
    async ({ params, session }) => {
      if ((await users.find(params.id)) === undefined) throw appError('account_not_found')
      const rows = await sessions.list(params.id)
      return success({ items: rows.map((row) => presentSession(row, session?.sid)) })
    },
  )

  app.delete(
    '/api/admin/users/:id/sessions/:session_id',
    {
      config: { admin: true },
      schema: {
        summary: 'End one session of an account',
        params: z.object({ id: UserId, session_id: z.string().max(64) }),
        response: { 200: Deleted },
      },
    },
    async (request, reply) => {
      const { params } = request
      const session = { id: params.id, sessionId: params.session_id }
      await endSession({ store, sessions }, actorOf(request), session, reply.raw)
      return deleted
    },
  )

  app.delete(
    '/api/admin/users/:id/sessions',
    {
      config: { admin: true },
      schema: {
        summary: 'Sign an account out everywhere; its API keys remain valid',
        params: z.object({ id: UserId }),
        response: { 200: Deleted },
      },
    },
    async (request, reply) => {
      const { params } = request
      await endSessions(store, actorOf(request), params.id)
      const keys = (await apiKeys.list(params.id)).map(({ id }) => id)
      connections.end(params.id, { except: keys, kept: reply.raw })
      return deleted
    },
  )
}
