// Accounts as an administrator sees and changes them.
import { z } from 'zod'
import type { UserRepository } from '../db/repositories/users.ts'
import { AppError } from '../errors.ts'
import type { App } from '../plugins/app.ts'
import { envelope, optional, PageQuery, page } from '../protocol/envelope.ts'
import { UserId } from '../protocol/ids.ts'
import { User } from '../protocol/user.ts'
import { success } from './answers.ts'
import { presentUser } from './auth.ts'

const DEFAULT_LIMIT = 50

const PatchUserBody = z
  .object({ role: optional(z.enum(['admin', 'user'])), is_active: optional(z.boolean()) })
  .meta({ id: 'PatchUser' })

/** `/api/admin/users`: a disabled account is refused at its next request. */
export function registerAdminUserRoutes(app: App, { users }: { users: UserRepository }): void {
  app.get(
    '/api/admin/users',
    {
      config: { admin: true },
      schema: {
        summary: 'All accounts, newest first',
        querystring: PageQuery,
        response: { 200: envelope(page(User)) },
      },
    },
    async ({ query }) => {
      const { items, nextCursor, hasMore } = await users.list({
        limit: query.limit ?? DEFAULT_LIMIT,
        cursor: query.cursor,
      })
      return success({ items: items.map(presentUser), next_cursor: nextCursor, has_more: hasMore })
    },
  )

  app.patch(
    '/api/admin/users/:id',
    {
      config: { admin: true },
      schema: {
        summary: 'Change the role of an account, or disable it',
        params: z.object({ id: UserId }),
        body: PatchUserBody,
        response: { 200: envelope(User) },
      },
    },
    async ({ params, body }) => {
      const changed = await users.update(params.id, {
        ...(body.role === undefined ? {} : { role: body.role }),
        ...(body.is_active === undefined ? {} : { isActive: body.is_active }),
      })
      if (changed === undefined) throw new AppError('not_found', 'There is no such account.')
      return success(presentUser(changed))
    },
  )
}
