// Routes for what a user is asked to decide, in all conversations.
import { z } from 'zod'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { envelope, page } from '../../protocol/envelope.ts'
import { Approval, ApprovalListQuery } from '../../protocol/runs/approval.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'
import { presentRequest } from './present-request.ts'

const DEFAULT_LIMIT = 50
const tags = ['runs']
const OfRequest = z.object({ id: z.string().max(64) })

/** `/api/approvals`. */
export function registerApprovalRoutes(app: App, { store }: Pick<Services, 'store'>): void {
  app.get(
    '/api/approvals',
    {
      schema: {
        summary: 'List what waits for your decision, newest first, or what was decided',
        description:
          'Of all your conversations, except those in the trash, and the calls that wait in projects that you are an approver of.',
        tags,
        querystring: ApprovalListQuery,
        response: { 200: envelope(page(Approval)) },
      },
    },
    async ({ user, query: { state = 'pending', project_id, limit = DEFAULT_LIMIT, cursor } }) => {
      const selection = { state, projectId: project_id }
      const found = await store.requests.list(user.id, selection, { limit, cursor })
      return success({
        items: found.items.map(presentRequest),
        next_cursor: found.nextCursor,
        has_more: found.hasMore,
      })
    },
  )

  app.get(
    '/api/approvals/:id',
    {
      schema: {
        summary: 'Get a request for your decision',
        tags,
        params: OfRequest,
        response: { 200: envelope(Approval) },
      },
    },
    async ({ user, params }) => {
      const found = await store.requests.find(user.id, params.id)
      if (found === undefined) throw appError('approval_unknown')
      return success(presentRequest(found))
    },
  )
}
