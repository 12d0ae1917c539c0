// Puts a message of the agent into a conversation of its user, outside of any run there.
import type { Database } from '../db/database.ts'
import type { Store } from '../db/store.ts'
import { newId } from '../lib/ids.ts'
import type { ConversationId, MessageId, UserId } from '../protocol/ids.ts'
import { outlast } from '../runs/group-commit.ts'
import { blankMessage } from '../runs/start/row-defaults.ts'

export interface PostedMessage {
  userId: UserId
  /** Where it is written; null when it comes from nowhere. */
  from: ConversationId | null
  to: ConversationId
  text: string
}

/**
 * Appends the message to the shown branch. What was written where outside text had been read taints the conversation
 * that it goes to. Null when the user has no such conversation.
 */
export async function postMessage(
  { database, store, now }: { database: Database; store: Store; now(): Date },
  { userId, from, to, text }: PostedMessage,
): Promise<MessageId | null> {
  const [source, target] = await Promise.all([
    from === null ? undefined : store.conversations.find(userId, from),
    store.conversations.find(userId, to),
  ])
  if (target === undefined) return null
  const id = newId<MessageId>()
  const createdAt = now()
  const content =
    source === undefined || source.id === target.id
      ? text
      : `*From the conversation “${source.title.replaceAll('*', '')}”:*\n\n${text}`
  const isTainted = from !== null && source?.tainted !== false
  let isStored = false
  await outlast(
    () =>
      database.write(async (tx) => {
        // Deleted meanwhile, or stored already by a transaction whose confirmation was lost.
        isStored = (await store.messages.lockLeaf(tx, to)) !== undefined
        if (!isStored || (await store.messages.find(to, id, tx)) !== undefined) return
        await store.messages.insertApart(tx, {
          ...blankMessage,
          id,
          conversationId: to,
          parentId: null,
          role: 'assistant',
          text: content,
          createdAt,
        })
        await store.steps.put(tx, {
          messageId: id,
          position: 0,
          type: 'text',
          content,
          skipped: false,
          closed: true,
        })
        await store.messages.attach(tx, to, id, createdAt)
        if (isTainted) await store.conversations.markTainted(tx, to)
      }),
    [100, 400],
    () => false,
  )
  return isStored ? id : null
}
