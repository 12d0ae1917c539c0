// Whether a queue is paused until the user decides, because the previous answer did not end normally.
import type { Message } from '../../../../../server/protocol/conversations/message.ts'
import { useMessages } from '../../../lib/api/messages.ts'
import { useQueue, useQueues } from './queued-messages.ts'

/** After a stopped or failed answer, the next message may no longer be what the user wants. */
export const isPausing = (last: Message | undefined): boolean =>
  last?.status === 'stopped' || last?.status === 'failed' || last?.status === 'interrupted'

/** False while a run is active, and for a message that the user wants to send now. */
export function useIsPaused(conversationId: string, isRunning: boolean): boolean {
  const last = useMessages(conversationId).data?.at(-1)
  const urgent = useQueues((store) => store.urgent[conversationId])
  const [next] = useQueue(conversationId)
  return !isRunning && urgent !== next?.id && isPausing(last)
}
