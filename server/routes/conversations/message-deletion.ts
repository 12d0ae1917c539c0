// Routes for deleting messages and restoring them.

import { z } from 'zod'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import { ConversationId, MessageId } from '../../protocol/ids.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'

const tags = ['messages']
const OfMessage = z.object({ id: ConversationId, mid: MessageId })

/** Deletes a message with everything below it, and restores it. */
export function registerMessageDeletion(
  app: App,
  { chat, store, database }: Pick<Services, 'chat' | 'store' | 'database'>,
): void {
  app.get(
    '/api/conversations/:id/messages/:mid/deletion',
    {
      schema: {
        summary:
          'Count the messages that deleting this one would delete, including other branches below it',
        tags,
        params: OfMessage,
        response: {
          200: envelope(
            z.object({
              messages: z.int().describe('The number of messages that would be deleted.'),
            }),
          ),
        },
      },
    },
    async ({ user, params }) => {
      const conversation = await store.conversations.get(user.id, params.id)
      const { id } = await store.messages.get(conversation.id, params.mid)
      return success({ messages: await store.messages.subtreeSize(conversation.id, id) })
    },
  )

  app.delete(
    '/api/conversations/:id/messages/:mid',
    {
      schema: {
        summary: 'Delete a message and everything below it; it can be restored for a day',
        tags,
        params: OfMessage,
        response: {
          200: Deleted.extend({
            deleted_messages: z.int().describe('The number of deleted messages.'),
          }),
        },
      },
    },
    async ({ user, params }) => {
      const deleted = await chat.removeMessage(user.id, params.id, params.mid)
      return { code: 0 as const, message: 'deleted', deleted_messages: deleted }
    },
  )

  app.post(
    '/api/conversations/:id/messages/:mid/restore',
    {
      schema: {
        summary: 'Restore a deleted message and everything deleted with it',
        tags,
        params: OfMessage,
        response: {
          200: envelope(
            z.object({ restored_messages: z.int().describe('The number of restored messages.') }),
          ),
        },
      },
    },
    async ({ user, params }) => {
      const conversation = await store.conversations.get(user.id, params.id)
      const restored = await database.write((tx) =>
        store.messages.restoreSubtree(tx, conversation.id, params.mid),
      )
      if (restored === 0) throw appError('nothing_to_undelete')
      return success({ restored_messages: restored })
    },
  )
}
