// Routes for a user's own sessions: list and end them.

import { z } from 'zod'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import { Session } from '../../protocol/accounts/user.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import type { Services } from '../../services.ts'
import { deleted, success } from '../envelope.ts'
import { presentSession } from './present-session.ts'

/** `/api/auth/sessions`. Ending a session takes effect at once, also on its open streams. */
export function registerSessionRoutes(
  app: App,
  {
    accounts,
    apiKeys,
    sessions,
    connections,
  }: Pick<Services, 'accounts' | 'apiKeys' | 'sessions' | 'connections'>,
): void {
  app.get(
    '/api/auth/sessions',
    {
      schema: {
        summary: 'List your sessions, most recently used first',
        response: { 200: envelope(z.object({ items: z.array(Session) })) },
      },
    },
    async ({ user, session }) =>
      success({
        items: (await sessions.list(user.id)).map((row) => presentSession(row, session?.sid)),
      }),
  )

  app.delete(
    '/api/auth/sessions/:id',
    {
      config: { signedIn: true },
      schema: {
        summary: 'End one of your sessions',
        params: z.object({ id: z.string().max(64) }),
        response: { 200: Deleted },
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const end = { actor: actorOf(request), action: 'sessions_ended' as const, details: { id } }
      await sessions.end(request.user.id, id, end, reply.raw)
      return deleted
    },
  )

  app.delete(
    '/api/auth/sessions',
    {
      config: { signedIn: true },
      schema: {
        summary: 'End all your sessions except this one; API keys remain valid',
        response: { 200: Deleted },
      },
    },
    async (request, reply) => {
      const { user, session } = request
      await accounts.endSessions(user.id, session ?? undefined, actorOf(request))
      const keys = (await apiKeys.list(user.id)).map(({ id }) => id)
      connections.end(user.id, {
        except: [...(session === null ? [] : [session.sid ?? session.jti]), ...keys],
        kept: reply.raw,
      })
      return deleted
    },
  )
}
