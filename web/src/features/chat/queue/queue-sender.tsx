// Sends queued messages one after the other, each when the previous answer is complete, also in conversations that are not
// open.
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Message } from '../../../../../server/protocol/conversations/message.ts'
import { useConversation } from '../../../lib/api/conversations.ts'
import { useMessages } from '../../../lib/api/messages.ts'
import { ApiError } from '../../../lib/http/api-client.ts'
import { waitToReconnect } from '../../../lib/http/reconnect.ts'
import { fieldsOf, textIn } from '../../../lib/read-json.ts'
import { errorText } from '../../../ui/states/error-text.ts'
import { isPendingComparison, useComparison } from '../compare/comparisons.ts'
import { follow } from '../runs/follow-run.ts'
import { useIsRunning } from '../runs/live-runs.ts'
import { startRun, writtenFields } from '../runs/start-run.ts'
import { useAttach } from '../runs/use-attach.ts'
import { useOutgoing } from '../sending/outgoing.ts'
import { NewConversationSender } from './new-conversation-sender.tsx'
import { dequeue, NEW_CONVERSATIONS, useQueue, useQueues } from './queued-messages.ts'
import { isPausing } from './use-is-paused.ts'

const RETRY_MS = 3_000

/** Sends queued messages while mounted. Renders nothing. */
export function QueueSenders() {
  const queues = useQueues((store) => store.queues)
  return Object.keys(queues).map((id) =>
    id === NEW_CONVERSATIONS ? (
      <NewConversationSender key={id} />
    ) : (
      <QueueSender key={id} conversationId={id} />
    ),
  )
}

const isWhole = (message: Message | undefined): boolean =>
  message?.status !== 'streaming' && message?.status !== 'awaiting_approval'

function QueueSender({ conversationId }: { conversationId: string }) {
  const client = useQueryClient()
  const [next] = useQueue(conversationId)
  const conversation = useConversation(conversationId)
  const messages = useMessages(conversationId)
  useAttach(client, conversationId, conversation.data)
  const isRunning = useIsRunning(conversationId)
  const urgent = useQueues((store) => store.urgent[conversationId])
  const hasFailed = useQueues((store) => store.failures[conversationId] !== undefined)
  const isEdited = useQueues(({ edited }) => next !== undefined && edited.has(next.id))
  const [busy, setBusy] = useState(false)
  const last = messages.data?.at(-1)
  // Only the stored answer, not the end of its stream, shows that the conversation is free and how the answer ended.
  const isFree =
    !isRunning &&
    conversation.isSuccess &&
    conversation.data.active_run_id === null &&
    messages.isSuccess &&
    isWhole(last)
  const isCompared = isPendingComparison(useComparison(conversationId))
  const isSending = useOutgoing(conversationId) !== null
  const isHeld =
    isSending || hasFailed || isCompared || isEdited || (isPausing(last) && urgent !== next?.id)
  const isDue = next !== undefined && isFree && !isHeld && !busy

  useEffect(() => {
    if (!isDue) return
    const send = async (): Promise<void> => {
      try {
        const body = { ...writtenFields(next), tools_enabled: next.tools }
        await startRun(client, conversationId, { kind: 'send', files: next.files, body }, next.id)
        dequeue(conversationId, next.id)
      } catch (error) {
        const runId = error instanceof ApiError ? textIn(fieldsOf(error.details).run_id) : undefined
        // Another device was faster: wait for that answer too.
        if (runId !== undefined) void follow({ conversationId, runId, client })
        // Sending again is safe: the server recognizes the message by its `client_id`.
        else if (error instanceof ApiError && error.status === 0) await waitToReconnect(RETRY_MS)
        else useQueues.getState().setFailure(conversationId, errorText(error))
      }
    }
    setBusy(true)
    void send().finally(() => setBusy(false))
  }, [isDue, next, client, conversationId])
  return null
}
