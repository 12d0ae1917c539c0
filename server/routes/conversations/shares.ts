// Routes with which owners manage the shares of their conversations.

import { z } from 'zod'
import type { ShareRow } from '../../db/repositories/conversations/shares.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import { Share, ShareBody, SharePage } from '../../protocol/conversations/share.ts'
import { Deleted, envelope, PageQuery } from '../../protocol/envelope.ts'
import { ConversationId } from '../../protocol/ids.ts'
import type { Services } from '../../services.ts'
import { deleted, presentPage, success } from '../envelope.ts'
import { pageUrl } from '../page-url.ts'

const DEFAULT_LIMIT = 20
const Params = z.object({ id: ConversationId })

/** `/api/conversations/:id/share` and `/api/shares`. */
export function registerShareRoutes(
  app: App,
  { shares, store, publicUrl }: Pick<Services, 'shares' | 'store' | 'publicUrl'>,
): void {
  const tags = ['sharing']
  const present = (row: ShareRow, origin: string): Share => {
    const token = shares.tokenOf(row)
    return {
      conversation_id: row.conversationId,
      title: row.title,
      token,
      url: token === null ? null : pageUrl(publicUrl, origin, `/s/${token}`),
      include: row.include,
      has_password: row.passwordHash !== null,
      views: row.views,
      created_at: row.createdAt.toISOString(),
      renewed_at: row.renewedAt.toISOString(),
      expires_at: row.expiresAt?.toISOString() ?? null,
    }
  }

  app.post(
    '/api/conversations/:id/share',
    {
      schema: {
        summary:
          'Share a snapshot of the shown branch; a second request updates the snapshot under the same link',
        tags,
        params: Params,
        body: ShareBody,
        response: { 200: envelope(Share) },
      },
    },
    async (request) => {
      const { user, params, body, protocol, host } = request
      const share = await shares.create(user.id, params.id, body, actorOf(request))
      return success(present(share, `${protocol}://${host}`))
    },
  )

  app.delete(
    '/api/conversations/:id/share',
    {
      schema: {
        summary: 'Revoke the share of a conversation at once',
        tags,
        params: Params,
        response: { 200: Deleted },
      },
    },
    async (request) => {
      await shares.remove(request.user.id, request.params.id, actorOf(request))
      return deleted
    },
  )

  app.get(
    '/api/shares',
    {
      schema: {
        summary: 'List your shares, newest first',
        tags,
        querystring: PageQuery,
        response: { 200: envelope(SharePage) },
      },
    },
    async ({ user, query, protocol, host }) => {
      const found = await store.shares.list(user.id, {
        limit: query.limit ?? DEFAULT_LIMIT,
        cursor: query.cursor,
      })
      return success(presentPage(found, (row) => present(row, `${protocol}://${host}`)))
    },
  )
}
