// Posts a message of the agent to one of the user's conversations, outside any run.
import type { Database } from '../db/database.ts'
import type { Store } from '../db/store.ts'
import { newId } from '../lib/ids.ts'
import type { GivenUp } from '../messaging/channels.ts'
import { givenUpNotice } from '../messaging/given-up-notice.ts'
import type { ConversationId, MessageId, RunId, UserId } from '../protocol/ids.ts'
import { storedOrigin } from '../protocol/runs/origin.ts'
import { retryWhileUnavailable } from '../runs/group-commit.ts'
import { MESSAGE_DEFAULTS } from '../runs/start/row-defaults.ts'
import { originOfRun } from '../runs/state.ts'

/** What the `message` tool posts. */
export interface PostedMessage {
  userId: UserId
  /** The conversation in which the message was written; null if there is none. */
  from: ConversationId | null
  /** The run that sends it, whose origin the message has; null if the server itself does. */
  runId: RunId | null
  to: ConversationId
  text: string
}

/**
 * Appends the message to the shown branch. A message from a tainted conversation taints the target. Returns null if the
 * user has no such conversation.
 */
export async function postMessage(
  { database, store, now }: { database: Database; store: Store; now(): Date },
  { userId, from, runId, to, text }: PostedMessage,
): Promise<MessageId | null> {
  const [source, target, run] = await Promise.all([
    from === null ? undefined : store.conversations.find(userId, from),
    store.conversations.find(userId, to),
    runId === null ? undefined : store.runs.findOwned(userId, runId),
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
  await retryWhileUnavailable(
    () =>
      database.write(async (tx) => {
        // The conversation was deleted, or an earlier transaction succeeded although its confirmation was lost.
        isStored = (await store.messages.lockLeaf(tx, to)) !== undefined
        if (!isStored || (await store.messages.find(to, id, tx)) !== undefined) return
        await store.messages.insertDetached(tx, {
          ...MESSAGE_DEFAULTS,
          id,
          conversationId: to,
          parentId: null,
          role: 'assistant',
          text: content,
          origin: run === undefined ? null : storedOrigin(originOfRun(run)),
          createdAt,
        })
        await store.steps.store(tx, userId, {
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

/** Tells a conversation that one of its messages to a channel was never delivered. */
export const postGivenUp = async (
  posting: Parameters<typeof postMessage>[0],
  { userId, conversationId, ...given }: GivenUp,
): Promise<MessageId | null> =>
  conversationId === null
    ? null
    : postMessage(posting, {
        userId,
        from: null,
        runId: null,
        to: conversationId,
        text: givenUpNotice(given),
      })
