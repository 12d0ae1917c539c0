// Routes for what an answer did and cites: its receipt, and the passages of its citations.
import { z } from 'zod'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { CitedPassage } from '../../protocol/conversations/citation.ts'
import { envelope } from '../../protocol/envelope.ts'
import { ConversationId, MessageId } from '../../protocol/ids.ts'
import { Receipt } from '../../protocol/runs/receipt.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'

const OfMessage = z.object({ id: ConversationId, mid: MessageId })

/** What is below `/api/conversations/:id/messages/:mid` about an answer. */
export function registerReceiptRoutes(
  app: App,
  { store, receipts }: Pick<Services, 'store' | 'receipts'>,
): void {
  app.get(
    '/api/conversations/:id/messages/:mid/receipt',
    {
      schema: {
        summary: 'Get what an answer did, from what is stored about its calls',
        description:
          'Computed from the steps, checkpoints and deliveries of the answer and its sub-agents, never from its text.',
        tags: ['messages'],
        params: OfMessage,
        response: { 200: envelope(Receipt) },
      },
    },
    async ({ user, params }) => {
      const conversation = await store.conversations.get(user.id, params.id)
      const receipt = await receipts.read({
        userId: user.id,
        conversationId: conversation.id,
        messageId: params.mid,
      })
      if (receipt === undefined) throw appError('message_not_found')
      return success(receipt)
    },
  )

  app.get(
    '/api/conversations/:id/messages/:mid/citations/:cid',
    {
      schema: {
        summary: 'Get the passage that a citation quotes, with the text around it',
        tags: ['messages'],
        params: OfMessage.extend({ cid: z.string().max(20) }),
        response: { 200: envelope(CitedPassage) },
      },
    },
    async ({ user, params }) => {
      const conversation = await store.conversations.get(user.id, params.id)
      const citations = await store.citations.ofAnswer(conversation.id, params.mid)
      const found = citations.find(({ id }) => id === params.cid)
      if (found === undefined) throw appError('citation_not_found')
      return success({ ...found, passage: found.before + found.quote + found.after })
    },
  )
}
