// Whether the next message of a queue can be sent, and after which message.
import type { Message } from '../../../../../server/protocol/conversations/message.ts'
import { useMessage, useMessages } from '../../../lib/api/messages.ts'
import { ApiError } from '../../../lib/http/api-client.ts'
import { useOutgoing } from '../sending/outgoing.ts'
import { type QueuedMessage, useQueue, useQueues } from './queued-messages.ts'

const isWhole = (message: Message): boolean =>
  message.status !== 'streaming' &&
  message.status !== 'awaiting_approval' &&
  message.status !== 'awaiting_input'

/** After a stopped or failed answer, the next message may no longer be what the user wants. */
const isBroken = (message: Message): boolean =>
  message.status === 'stopped' || message.status === 'failed' || message.status === 'interrupted'

/**
 * What the queue of a conversation waits for. It depends on the answer after which the next message was written, not on the
 * branch that is shown.
 */
export function useQueueState(conversationId: string): {
  next: QueuedMessage | undefined
  /** Whether the user must decide, because the answer before the message did not end normally. */
  isPaused: boolean
  /** Whether the answer before the message has ended, or there is none. */
  isReady: boolean
  /** The message to send it after; null for the last one of the conversation. */
  parentId: string | null
} {
  const [next] = useQueue(conversationId)
  const isUrgent = useQueues(
    ({ urgent }) => next !== undefined && urgent[conversationId] === next.id,
  )
  const isSending = useOutgoing(conversationId) !== null
  const shown = useMessages(conversationId)
  const parentId = next?.parent ?? null
  const place = shown.data?.findIndex(({ id }) => id === parentId) ?? -1
  // The copy in the list is the one that a run on this page keeps up to date.
  const other = useMessage(conversationId, shown.isSuccess && place < 0 ? parentId : null)
  const parent = place < 0 ? other.data : shown.data?.[place]
  const isGone = other.error instanceof ApiError && other.error.status === 404
  const last = shown.data?.at(-1)
  const waitsForUnknown = next?.waits === true && parentId === null && !isSending
  return {
    next,
    isPaused:
      !isUrgent &&
      next?.waits === true &&
      (waitsForUnknown || (parent !== undefined && isBroken(parent))),
    isReady:
      shown.isSuccess &&
      !isSending &&
      (last === undefined || isWhole(last)) &&
      // If the answer has been deleted, the server says so.
      (parentId === null || isGone || (parent !== undefined && isWhole(parent))),
    // What has been said after it on the shown branch continues its own branch.
    parentId: place < 0 ? parentId : last?.role === 'assistant' ? last.id : null,
  }
}
