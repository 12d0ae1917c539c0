// Routes for administrators: list the sessions of an account, and end one or all of them.
import { z } from 'zod'
import type { ApiKeys } from '../../auth/api-keys.ts'
import type { Sessions } from '../../auth/sessions.ts'
import type { UserRepository } from '../../db/repositories/accounts/users.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import type { OpenConnections } from '../../http/open-connections.ts'
import { Session } from '../../protocol/accounts/user.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import { UserId } from '../../protocol/ids.ts'
import { presentSession } from '../accounts/present-session.ts'
import { deleted, success } from '../envelope.ts'

/** The dependencies of the routes with which administrators end sessions. */
export interface AdminSessionDependencies {
  users: UserRepository
  sessions: Sessions
  apiKeys: Pick<ApiKeys, 'list'>
  connections: OpenConnections
}

/** `/api/admin/users/:id/sessions`. Ending a session takes effect at once, also on its open streams. */
export function registerAdminSessionRoutes(
  app: App,
  { users, sessions, apiKeys, connections }: AdminSessionDependencies,
): void {
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
      config: { admin: true, audit: { action: 'sessions_ended' } },
      schema: {
        summary: 'End one session of an account',
        params: z.object({ id: UserId, session_id: z.string().max(64) }),
        response: { 200: Deleted },
      },
    },
    async (request, reply) => {
      const { params } = request
      await sessions.end(params.id, params.session_id, reply.raw)
      const account = await users.find(params.id)
      if (account !== undefined) request.audited = { account: account.username }
      return deleted
    },
  )

  app.delete(
    '/api/admin/users/:id/sessions',
    {
      config: { admin: true, audit: { action: 'sessions_ended' } },
      schema: {
        summary: 'Sign an account out everywhere; its API keys remain valid',
        params: z.object({ id: UserId }),
        response: { 200: Deleted },
      },
    },
    async (request, reply) => {
      const { params } = request
      const changed = await users.update(params.id, { endSessions: true })
      if (changed === undefined) throw appError('account_not_found')
      request.audited = { account: changed.username }
      const keys = (await apiKeys.list(changed.id)).map(({ id }) => id)
      connections.end(changed.id, { except: keys, kept: reply.raw })
      return deleted
    },
  )
}
