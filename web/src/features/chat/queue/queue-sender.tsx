// Sends queued messages one after the other, each when the previous answer is complete, also in conversations that are not
// open.

import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { MessageId } from '../../../../../server/protocol/ids.ts'
import { filesOf, useConversation } from '../../../lib/api/conversations.ts'
import { ApiError } from '../../../lib/http/api-client.ts'
import { waitToReconnect } from '../../../lib/http/reconnect.ts'
import { useNewest } from '../../../lib/newest.ts'
import { fieldsOf, textIn } from '../../../lib/read-json.ts'
import { errorText } from '../../../ui/states/error-text.ts'
import { isPendingComparison, useComparison } from '../compare/comparisons.ts'
import { follow } from '../runs/follow-run.ts'
import { useIsRunning } from '../runs/live-runs.ts'
import { startRun, writtenFields } from '../runs/start-run.ts'
import { useAttach } from '../runs/use-attach.ts'
import { NewConversationSender } from './new-conversation-sender.tsx'
import { dequeueSent, NEW_CONVERSATIONS, orphan, useQueues } from './queued-messages.ts'
import { useQueueState } from './use-queue-state.ts'

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

function QueueSender({ conversationId }: { conversationId: string }) {
  const client = useQueryClient()
  const conversation = useConversation(conversationId)
  useAttach(client, conversationId, conversation.data)
  const isRunning = useIsRunning(conversationId)
  const { next, isPaused, isReady, parentId } = useQueueState(conversationId)
  const hasFailed = useQueues((store) => store.failures[conversationId] !== undefined)
  const isEdited = useQueues(({ edited }) => next !== undefined && edited.has(next.id))
  const [busy, setBusy] = useState(false)
  // Only the stored answer, not the end of its stream, shows that the conversation is free and how the answer ended.
  const isFree =
    isReady && !isRunning && conversation.isSuccess && conversation.data.active_run_id === null
  const isCompared = isPendingComparison(useComparison(conversationId))
  const isHeld = hasFailed || isCompared || isEdited || isPaused
  const isDue = next !== undefined && isFree && !isHeld && !busy
  const parent = useNewest(parentId)
  const place = useNewest(conversation.data === undefined ? null : filesOf(conversation.data))

  useEffect(() => {
    if (!isDue) return
    const send = async (): Promise<void> => {
      try {
        const body = {
          ...writtenFields(next, place.current),
          tools_enabled: next.tools,
          // An id is a plain string when stored; the server checks it.
          ...(parent.current === null ? {} : { parent_id: parent.current as MessageId }),
        }
        const request = { kind: 'send', files: next.files, body } as const
        dequeueSent(conversationId, next, await startRun(client, conversationId, request, next.id))
      } catch (error) {
        const runId = error instanceof ApiError ? textIn(fieldsOf(error.details).run_id) : undefined
        // Another device was faster: wait for that answer too.
        if (runId !== undefined) void follow({ conversationId, runId, client })
        // Sending again is safe: the server recognizes the message by its `client_id`.
        else if (error instanceof ApiError && error.status === 0) await waitToReconnect(RETRY_MS)
        else if (error instanceof ApiError && error.status === 404 && next.parent !== null)
          orphan(conversationId, next.parent)
        else useQueues.getState().setFailure(conversationId, errorText(error))
      }
    }
    setBusy(true)
    void send().finally(() => setBusy(false))
  }, [isDue, next, client, conversationId])
  return null
}
