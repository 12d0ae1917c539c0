// The route that changes many conversations at once.
import type { ChatService } from '../../chat/chat-service.ts'
import type { ConversationRepository } from '../../db/repositories/conversations/conversations.ts'
import type { Store } from '../../db/store.ts'
import { AppError, appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import type { Change } from '../../protocol/change.ts'
import { type BulkAction, BulkBody, BulkResult } from '../../protocol/conversations/conversation.ts'
import { envelope } from '../../protocol/envelope.ts'
import type { ConversationId, UserId } from '../../protocol/ids.ts'
import { success } from '../envelope.ts'

/** The dependencies of the route that changes several conversations. */
export interface BulkRouteDependencies {
  conversations: Pick<ConversationRepository, 'patch'>
  trash: Pick<Store['trash'], 'restore'>
  chat: Pick<ChatService, 'trashConversation' | 'removeConversation'>
  /** Notifies the user's other tabs. Call it after the change is stored. */
  announce(userId: UserId, change: Change): void
}

/** The change that other tabs receive; `updated` for actions that are not listed. */
const CHANGES: Partial<Record<BulkAction, Change['change']>> = {
  delete: 'deleted',
  delete_permanently: 'deleted',
  restore: 'created',
}

/** `POST /api/conversations/bulk`. */
export function registerBulkRoute(
  app: App,
  { conversations, trash, chat, announce }: BulkRouteDependencies,
): void {
  const patch =
    (changes: Parameters<ConversationRepository['patch']>[2]) =>
    (userId: UserId, id: ConversationId): Promise<unknown> =>
      conversations.patch(userId, id, changes)
  const actions: Record<BulkAction, (userId: UserId, id: ConversationId) => Promise<unknown>> = {
    archive: patch({ archived: true }),
    unarchive: patch({ archived: false }),
    pin: patch({ pinned: true }),
    unpin: patch({ pinned: false }),
    delete: chat.trashConversation,
    async restore(userId, id) {
      if (!(await trash.restore(userId, id))) throw appError('conversation_not_found')
    },
    delete_permanently: chat.removeConversation,
  }

  app.post(
    '/api/conversations/bulk',
    {
      schema: {
        summary:
          'Archive, pin, delete or restore several conversations; `delete` moves them to the trash',
        body: BulkBody,
        response: { 200: envelope(BulkResult) },
      },
    },
    async ({ user, body }) => {
      const changed: ConversationId[] = []
      const notFound: ConversationId[] = []
      for (const id of new Set(body.ids)) {
        try {
          await actions[body.action](user.id, id)
          changed.push(id)
          announce(user.id, { type: 'conversation', id, change: CHANGES[body.action] ?? 'updated' })
        } catch (error) {
          // The conversation was deleted in the meantime. The others must still be changed.
          if (!(error instanceof AppError) || error.status !== 404) throw error
          notFound.push(id)
        }
      }
      return success({ changed, not_found: notFound })
    },
  )
}
