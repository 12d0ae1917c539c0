// Sends the messages that were written without a connection, one after the other, each as a new conversation.
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { createConversation, refreshConversations } from '../../../lib/api/conversations.ts'
import { ApiError } from '../../../lib/http/api-client.ts'
import { waitToReconnect } from '../../../lib/http/reconnect.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { paths } from '../../../lib/paths.ts'
import { notify } from '../../../ui/overlays/toasts.ts'
import { errorText } from '../../../ui/states/error-text.ts'
import { secondModels, setComparison } from '../compare/comparisons.ts'
import { randomId } from '../random-id.ts'
import { startRun, writtenFields } from '../runs/start-run.ts'
import {
  dequeue,
  NEW_CONVERSATIONS,
  type NewConversation,
  type QueuedMessage,
  useQueue,
  useQueues,
} from './queued-messages.ts'

const RETRY_MS = 3_000

const change = (messageId: string, next: (begins: NewConversation) => Partial<QueuedMessage>) =>
  useQueues
    .getState()
    .change(NEW_CONVERSATIONS, (queue) =>
      queue.map((one) =>
        one.id === messageId && one.begins !== undefined ? { ...one, ...next(one.begins) } : one,
      ),
    )

/** Stores the id of a message's conversation, so that the next attempt does not create another one. */
const remember = (messageId: string, id: string): void =>
  change(messageId, (begins) => ({ begins: { ...begins, id } }))

/** The conversation has been deleted: the message begins another one, as a new message. */
const beginAgain = (messageId: string): void =>
  change(messageId, (begins) => ({ id: randomId(), begins: { ...begins, id: null } }))

/**
 * Does the work in only one tab at a time; the others do it afterwards. Outside a secure context (plain HTTP from another
 * machine), browsers have no locks: the server recognizes the requests of two tabs.
 */
const alone = (name: string, work: () => Promise<void>): Promise<void> => {
  const { locks } = navigator as { locks?: LockManager } // the types assume a secure context
  return locks === undefined ? work() : locks.request(name, work)
}

/** Creates the conversation of a message. Resolves with its id. */
async function createFor(
  client: QueryClient,
  message: QueuedMessage,
  { settings, secondModel, id: known }: NewConversation,
): Promise<string> {
  const id = known ?? (await createConversation(settings, message.id)).id
  if (known === null) remember(message.id, id)
  const body = {
    ...writtenFields(message, settings.project_id ?? null),
    tools_enabled: message.tools,
  }
  const first = await startRun(client, id, { kind: 'send', files: message.files, body }, message.id)
  if (secondModel !== null) {
    secondModels.set(id, secondModel)
    setComparison(id, { id: randomId(), first, second: null, model: secondModel })
  }
  return id
}

/** Sends queued messages while mounted. Renders nothing. */
export function NewConversationSender() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [, navigate] = useLocation()
  const [next] = useQueue(NEW_CONVERSATIONS)
  const hasFailed = useQueues(({ failures }) => failures[NEW_CONVERSATIONS] !== undefined)
  const isEdited = useQueues(({ edited }) => next !== undefined && edited.has(next.id))
  const [busy, setBusy] = useState(false)
  const isDue = next !== undefined && !hasFailed && !isEdited && !busy

  useEffect(() => {
    if (!isDue) return
    const send = async (): Promise<void> => {
      const { begins } = next
      if (begins === undefined) return dequeue(NEW_CONVERSATIONS, next.id)
      try {
        const id = await createFor(client, next, begins)
        dequeue(NEW_CONVERSATIONS, next.id)
        void refreshConversations(client, [id])
        notify(t('queue.sent'), 'success', {
          label: t('queue.open'),
          onClick: () => navigate(paths.conversation(id)),
        })
      } catch (error) {
        // Sending again is safe: the server recognizes the message by its `client_id`.
        if (error instanceof ApiError && error.status === 0) return await waitToReconnect(RETRY_MS)
        // Another tab is sending it.
        if (error instanceof ApiError && error.reason === 'idempotency_pending')
          return await waitToReconnect(RETRY_MS)
        if (error instanceof ApiError && error.status === 404 && begins.id !== null)
          return beginAgain(next.id)
        useQueues.getState().setFailure(NEW_CONVERSATIONS, errorText(error))
      }
    }
    /** Two tabs would create two conversations, so only one tab sends; the others check again afterwards. */
    const sendAlone = (): Promise<void> =>
      alone(`new conversation ${next.id}`, async () => {
        const isThere = useQueues
          .getState()
          .queues[NEW_CONVERSATIONS]?.some(({ id }) => id === next.id)
        if (isThere === true) await send()
      })
    setBusy(true)
    void sendAlone().finally(() => setBusy(false))
  }, [isDue, next, client, navigate, t])
  return null
}
