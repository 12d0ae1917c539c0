// The route that changes many conversations at once.

import type { Marks } from '../../db/repositories/conversations/marks.ts'
import { AppError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import type { Change } from '../../protocol/change.ts'
import { type BulkAction, BulkBody, BulkResult } from '../../protocol/conversations/conversation.ts'
import { envelope } from '../../protocol/envelope.ts'
import type { ConversationId, UserId } from '../../protocol/ids.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'

/** The change that other tabs receive; `updated` for actions that are not listed. */
const CHANGES: Partial<Record<BulkAction, Change['change']>> = {
  delete: 'deleted',
  delete_permanently: 'deleted',
  restore: 'created',
}

/** Changes conversations of a user and yields each that is changed; one that the user does not have is left out. */
type Apply = (userId: UserId, ids: readonly ConversationId[]) => AsyncIterable<ConversationId>

/** For what needs only the database: one statement for all. */
const together = (
  apply: (userId: UserId, ids: readonly ConversationId[]) => Promise<ConversationId[]>,
): Apply =>
  async function* (userId, ids) {
    yield* await apply(userId, ids)
  }

/** For what also stops runs: one conversation after the other. */
const oneByOne = (apply: (userId: UserId, id: ConversationId) => Promise<void>): Apply =>
  async function* (userId, ids) {
    for (const id of ids)
      try {
        await apply(userId, id)
        yield id
      } catch (error) {
        // The conversation was deleted in the meantime. The others must still be changed.
        if (!(error instanceof AppError) || error.status !== 404) throw error
      }
  }

/** `POST /api/conversations/bulk`. */
export function registerBulkRoute(
  app: App,
  { store: { conversations, trash }, chat, changes }: Pick<Services, 'store' | 'chat' | 'changes'>,
): void {
  const mark = (marks: Marks): Apply =>
    together((userId, ids) => conversations.mark(userId, ids, marks))
  const actions: Record<BulkAction, Apply> = {
    archive: mark({ archived: true }),
    unarchive: mark({ archived: false }),
    pin: mark({ pinned: true }),
    unpin: mark({ pinned: false }),
    delete: oneByOne(chat.trashConversation),
    restore: together(trash.restore),
    delete_permanently: oneByOne(chat.removeConversation),
  }

  app.post(
    '/api/conversations/bulk',
    {
      config: { whileDiskFull: true },
      schema: {
        summary:
          'Archive, pin, delete or restore several conversations; `delete` moves them to the trash',
        body: BulkBody,
        response: { 200: envelope(BulkResult) },
      },
    },
    async ({ user, body: { ids: given, action } }) => {
      const ids = [...new Set(given)]
      const changed = new Set<ConversationId>()
      for await (const id of actions[action](user.id, ids)) {
        changed.add(id)
        changes.publish(user.id, { type: 'conversation', id, change: CHANGES[action] ?? 'updated' })
      }
      return success({
        changed: ids.filter((id) => changed.has(id)),
        not_found: ids.filter((id) => !changed.has(id)),
      })
    },
  )
}
