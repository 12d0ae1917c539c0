// Routes for a user's own sessions: list and end them.
import { z } from 'zod'
import type { Accounts } from '../../auth/accounts.ts'
import type { ApiKeys } from '../../auth/api-keys.ts'
import type { Sessions } from '../../auth/sessions.ts'
import type { App } from '../../http/app.ts'
import type { OpenConnections } from '../../http/open-connections.ts'
import { Session } from '../../protocol/accounts/user.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import { deleted, success } from '../envelope.ts'
import { presentSession } from './present-session.ts'

/** The dependencies of the routes for a user's sessions. */
export interface SessionRouteDependencies {
  accounts: Accounts
  apiKeys: ApiKeys
  sessions: Sessions
  connections: OpenConnections
}

/** `/api/auth/sessions`. Ending a session takes effect at once, also on its open streams. */
export function registerSessionRoutes(
  app: App,
  { accounts, apiKeys, sessions, connections }: SessionRouteDependencies,
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
      config: { signedIn: true, audit: { action: 'sessions_ended' } },
      schema: {
        summary: 'End one of your sessions',
        params: z.object({ id: z.string().max(64) }),
        response: { 200: Deleted },
      },
    },
    async ({ user, params }, reply) => {
      await sessions.end(user.id, params.id, reply.raw)
      return deleted
    },
  )

  app.delete(
    '/api/auth/sessions',
    {
      config: { signedIn: true, audit: { action: 'sessions_ended' } },
      schema: {
        summary: 'End all your sessions except this one; API keys remain valid',
        response: { 200: Deleted },
      },
    },
    async ({ user, session }, reply) => {
      await accounts.endSessions(user.id, session ?? undefined)
      const keys = (await apiKeys.list(user.id)).map(({ id }) => id)
      connections.end(user.id, {
        except: [...(session === null ? [] : [session.sid ?? session.jti]), ...keys],
        kept: reply.raw,
      })
      return deleted
    },
  )
}
