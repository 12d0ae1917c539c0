// Routes for administrators: list accounts, change roles, disable accounts.
import { z } from 'zod'
import { changeAccount } from '../../administration/change-account.ts'
import { type AccountEnd, endAccount } from '../../administration/end-account.ts'
import { linkPath } from '../../auth/link-token.ts'
import { assertMayReset } from '../../auth/reset-rule.ts'
import type { UserRow } from '../../db/repositories/accounts/users.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import { fullQuota, PatchQuota, QuotaReport } from '../../protocol/accounts/quota.ts'
import { CreatedResetLink } from '../../protocol/accounts/user.ts'
import { AdminUser } from '../../protocol/admin/group.ts'
import { Deleted, envelope, optional, PageQuery, page } from '../../protocol/envelope.ts'
import { UserId } from '../../protocol/ids.ts'
import type { Services } from '../../services.ts'
import { presentUser } from '../accounts/present-user.ts'
import { deleted, presentPage, success } from '../envelope.ts'
import { pageUrl } from '../page-url.ts'

const DEFAULT_LIMIT = 50

const UserQuery = PageQuery.extend({
  q: z
    .string()
    .max(100)
    .optional()
    .describe('Only accounts whose name or email address contains this text.'),
  role: z.enum(['admin', 'user']).optional().describe('Only accounts with this role.'),
  is_active: z
    .enum(['true', 'false'])
    .optional()
    .describe('Only accounts that are, or are not, active. Default: both.'),
})
const PatchUserBody = z
  .strictObject({
    role: optional(z.enum(['admin', 'user'])),
    is_active: optional(z.boolean()),
    quota: optional(PatchQuota),
  })
  .meta({ id: 'PatchUser' })

const ResetLinkBody = z
  .strictObject({ add_password: optional(z.boolean()) })
  .meta({ id: 'ResetLink' })

const DeleteUserQuery = z.object({
  data: z
    .enum(['delete', 'keep', 'hand_over'])
    .default('delete')
    .describe('What happens to the data of the account.'),
  heir_id: UserId.optional().describe(
    'The account that receives the data. Required with `data=hand_over`.',
  ),
})
const endOf = (
  data: z.output<typeof DeleteUserQuery>['data'],
  heir: UserId | undefined,
): AccountEnd => {
  if (data !== 'hand_over') return { data }
  if (heir === undefined) throw appError('heir_missing')
  return { data, heir }
}

type UserServices = Pick<
  Services,
  | 'store'
  | 'access'
  | 'reportQuota'
  | 'links'
  | 'secondFactors'
  | 'allowsPassword'
  | 'publicUrl'
  | 'connections'
  | 'chat'
  | 'workspace'
  | 'passwords'
  | 'knowledge'
  | 'changes'
  | 'transfers'
  | 'now'
>

/** `/api/admin/users`. Disabling an account takes effect at once: its requests are rejected, its runs and streams end. */
export function registerAdminUserRoutes(app: App, services: UserServices): void {
  registerAccounts(app, services)
  registerEnd(app, services)
  registerAccountHelp(app, services)
}

/** The accounts, and changing them. */
function registerAccounts(app: App, services: UserServices): void {
  const { access } = services
  const { users } = services.store
  const present = (user: UserRow): AdminUser => ({
    ...presentUser(user),
    groups: [...access.groupsOf(user.id)],
    quota: fullQuota(access.ownQuota(user.id)),
  })

  app.get(
    '/api/admin/users',
    {
      config: { admin: true },
      schema: {
        summary: 'List accounts, newest first',
        querystring: UserQuery,
        response: { 200: envelope(page(AdminUser)) },
      },
    },
    async ({ query }) => {
      const found = await users.list({
        limit: query.limit ?? DEFAULT_LIMIT,
        cursor: query.cursor,
        text: query.q,
        role: query.role,
        isActive: query.is_active === undefined ? undefined : query.is_active === 'true',
      })
      return success(presentPage(found, present))
    },
  )

  app.patch(
    '/api/admin/users/:id',
    {
      config: { admin: true },
      schema: {
        summary:
          'Update the role or quota of an account, or disable it; disabling ends its runs and open streams',
        params: z.object({ id: UserId }),
        body: PatchUserBody,
        response: { 200: envelope(AdminUser) },
      },
    },
    async (request, reply) => {
      const { params, body } = request
      const changed = await changeAccount(services, actorOf(request), params.id, body, reply.raw)
      return success(present(changed))
    },
  )
}

/** Ending an account. */
function registerEnd(app: App, services: UserServices): void {
  app.delete(
    '/api/admin/users/:id',
    {
      config: { admin: true },
      schema: {
        summary: 'Delete an account; delete, keep or transfer its data',
        description:
          'Ends the runs and open streams of the account first. `data=delete` (the default) removes everything. `data=keep` keeps the data under a disabled account and removes its API keys, channels, webhooks, email address and every way to sign in. `data=hand_over` transfers conversations, projects, documents, files, shared links and memory to the account `heir_id` and deletes usage. If the request is interrupted, send it again.',
        params: z.object({ id: UserId }),
        querystring: DeleteUserQuery,
        response: { 200: Deleted },
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const { data, heir_id: heir } = request.query
      if (id === request.user.id) throw appError('own_account_stays')
      const end = { ...endOf(data, heir), actor: actorOf(request) }
      if (!(await endAccount(services, id, end, reply.raw))) throw appError('account_not_found')
      await services.access.reload()
      return deleted
    },
  )
}

/** The limits of an account, and routes that restore its owner's access. */
function registerAccountHelp(
  app: App,
  { store: { users }, reportQuota, links, secondFactors, allowsPassword, publicUrl }: UserServices,
): void {
  app.get(
    '/api/admin/users/:id/quota',
    {
      config: { admin: true },
      schema: {
        summary: 'Get the limits and the usage of an account',
        params: z.object({ id: UserId }),
        response: { 200: envelope(QuotaReport) },
      },
    },
    async ({ params }) => {
      if ((await users.find(params.id)) === undefined) throw appError('account_not_found')
      return success(await reportQuota(params.id))
    },
  )

  app.post(
    '/api/admin/users/:id/reset-link',
    {
      config: { admin: true },
      schema: {
        summary: 'Create a password link for the owner of an account',
        description:
          'The link works once, within 24 hours, and replaces an earlier link for the same account. An account without a password (its owner uses single sign-on) gets a link only with `add_password`.',
        params: z.object({ id: UserId }),
        body: ResetLinkBody.nullish(),
        response: { 200: envelope(CreatedResetLink) },
      },
    },
    async (request) => {
      const { params, body, protocol, host } = request
      const account = await users.find(params.id)
      if (account?.passwordHash == null) throw appError('account_not_found')
      const addsPassword = body?.add_password === true
      assertMayReset(account, { allowsPassword, addsPassword })
      const { row, token } = await links.createReset(account, actorOf(request), {
        details: addsPassword ? { add_password: true } : {},
      })
      return success({
        token,
        url: pageUrl(publicUrl, `${protocol}://${host}`, linkPath(token)),
        expires_at: row.expiresAt.toISOString(),
      })
    },
  )

  app.delete(
    '/api/admin/users/:id/second-factors',
    {
      config: { admin: true },
      schema: {
        summary:
          'Remove the second factors of an account; the password alone is then enough to sign in',
        params: z.object({ id: UserId }),
        response: { 200: Deleted },
      },
    },
    async (request) => {
      const account = await users.find(request.params.id)
      if (account?.passwordHash == null) throw appError('account_not_found')
      await secondFactors.reset(account, actorOf(request))
      return deleted
    },
  )
}
