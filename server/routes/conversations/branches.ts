// The route for the tree of a conversation's branches.

import { z } from 'zod'
import type { App } from '../../http/app.ts'
import { BranchList } from '../../protocol/conversations/branch.ts'
import { envelope } from '../../protocol/envelope.ts'
import { ConversationId } from '../../protocol/ids.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'

/** `/api/conversations/:id/branches`. */
export function registerBranchRoutes(app: App, { store }: Pick<Services, 'store'>): void {
  app.get(
    '/api/conversations/:id/branches',
    {
      schema: {
        summary: 'List the branches of a conversation with their first text and where they fork',
        tags: ['messages'],
        params: z.object({ id: ConversationId }),
        response: { 200: envelope(BranchList) },
      },
    },
    async ({ user, params }) => {
      const conversation = await store.conversations.get(user.id, params.id)
      const { items, truncated } = await store.branches(conversation.id, conversation.leafId)
      return success({
        items: items.map(({ id, parent, createdAt, ...row }) => ({
          ...row,
          message_id: id,
          parent_id: parent,
          created_at: createdAt.toISOString(),
        })),
        truncated,
      })
    },
  )
}
