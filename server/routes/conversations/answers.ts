// Routes for existing answers: editing their text, and rating them.

import { z } from 'zod'
import { reviseAnswer } from '../../chat/revise-answer.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import {
  Feedback,
  Message,
  ReviseAnswerBody,
  SetFeedbackBody,
} from '../../protocol/conversations/message.ts'
import { envelope } from '../../protocol/envelope.ts'
import { ConversationId, MessageId } from '../../protocol/ids.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'
import { sendMessage } from './send-long-json.ts'

const Params = z.object({ id: ConversationId, mid: MessageId })

/** `/api/conversations/:id/messages/:mid/revisions` and `…/feedback`. */
export function registerAnswerRoutes(
  app: App,
  {
    store,
    database,
    workspace: {
      workspaces: { storage },
    },
    bounds,
  }: Pick<Services, 'store' | 'database' | 'workspace' | 'bounds'>,
): void {
  const tags = ['messages']

  app.post(
    '/api/conversations/:id/messages/:mid/revisions',
    {
      schema: {
        summary: 'Edit the text of an answer; creates a sibling and shows it',
        tags,
        params: Params,
        body: ReviseAnswerBody,
        response: { 200: envelope(Message) },
      },
    },
    async ({ user, params, body }, reply) => {
      if (body.text.length > bounds.message)
        throw appError('message_too_long', { length: body.text.length, limit: bounds.message })
      const conversation = await store.conversations.find(user.id, params.id)
      if (conversation === undefined) throw appError('conversation_not_found')
      const id = await reviseAnswer(
        { database, store, storage, now: () => new Date() },
        { conversation, messageId: params.mid, text: body.text },
      )
      return sendMessage(reply, await store.messages.get(conversation.id, id))
    },
  )

  app.put(
    '/api/conversations/:id/messages/:mid/feedback',
    {
      schema: {
        summary: 'Rate an answer, with an optional note; `null` removes the rating',
        tags,
        params: Params,
        body: SetFeedbackBody,
        response: {
          200: envelope(
            z.object({ feedback: Feedback.nullable().describe('The rating. Null: none.') }),
          ),
        },
      },
    },
    async ({ user, params, body }) => {
      const conversation = await store.conversations.find(user.id, params.id)
      if (conversation === undefined) throw appError('conversation_not_found')
      const { feedback } = body
      if (!(await store.messages.setFeedback(conversation.id, params.mid, feedback)))
        throw appError('message_not_found')
      return success({ feedback })
    },
  )
}
