// Routes for administrators: invitations to register.

import { z } from 'zod'
import { quotaChanges } from '../../access/quota-changes.ts'
import { linkPath } from '../../auth/link-token.ts'
import type { InvitationRow } from '../../db/repositories/accounts/account-links.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import { withoutAbsent } from '../../lib/without-absent.ts'
import { fullQuota } from '../../protocol/accounts/quota.ts'
import {
  CreatedInvitation,
  CreateInvitationBody,
  Invitation,
} from '../../protocol/admin/invitation.ts'
import { Deleted, envelope, PageQuery, page } from '../../protocol/envelope.ts'
import type { Services } from '../../services.ts'
import { deleted, presentPage, success } from '../envelope.ts'
import { pageUrl } from '../page-url.ts'

const DEFAULT_LIMIT = 50
const HOUR_MS = 60 * 60_000

/** `/api/admin/invitations`. An invitation ends when its creator is no longer an administrator. */
export function registerAdminInvitationRoutes(
  app: App,
  { links, store: { groups }, publicUrl }: Pick<Services, 'links' | 'store' | 'publicUrl'>,
): void {
  app.get(
    '/api/admin/invitations',
    {
      config: { admin: true },
      schema: {
        summary: 'List invitations, newest first',
        querystring: PageQuery,
        response: { 200: envelope(page(Invitation)) },
      },
    },
    async ({ query }) => {
      const found = await links.list({
        limit: query.limit ?? DEFAULT_LIMIT,
        cursor: query.cursor,
      })
      return success(presentPage(found, present))
    },
  )

  app.post(
    '/api/admin/invitations',
    {
      config: { admin: true },
      schema: {
        summary: 'Create an invitation to register; the link is returned only once',
        body: CreateInvitationBody,
        response: { 200: envelope(CreatedInvitation) },
      },
    },
    async (request) => {
      const { body, protocol, host } = request
      const group = body.group_id === undefined ? null : await groups.find(body.group_id)
      if (group === undefined) throw appError('group_not_found')
      const { row, token } = await links.invite({
        role: body.role,
        quota: body.quota,
        groupId: group?.id,
        note: body.note ?? null,
        lifetimeMs: body.expires_in_hours * HOUR_MS,
        actor: actorOf(request),
        details: {
          ...withoutAbsent({ group: group?.name }),
          ...quotaChanges({}, body.quota ?? {}),
        },
      })
      const url = pageUrl(publicUrl, `${protocol}://${host}`, linkPath(token))
      return success({ ...present({ ...row, group }), token, url })
    },
  )

  app.delete(
    '/api/admin/invitations/:id',
    {
      config: { admin: true },
      schema: {
        summary: 'Revoke an invitation',
        params: z.object({ id: z.string().max(64) }),
        response: { 200: Deleted },
      },
    },
    async (request) => {
      const { id } = request.params
      if (!(await links.removeInvitation(id, actorOf(request))))
        throw appError('invitation_not_found')
      return deleted
    },
  )
}

const present = (row: InvitationRow): Invitation => ({
  id: row.id,
  role: row.role,
  quota: fullQuota(row.quota),
  group: row.group && { id: row.group.id, name: row.group.name },
  note: row.note,
  created_at: row.createdAt.toISOString(),
  expires_at: row.expiresAt.toISOString(),
  used_at: row.usedAt?.toISOString() ?? null,
  user_id: row.userId,
})
