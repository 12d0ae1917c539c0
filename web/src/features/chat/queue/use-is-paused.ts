// Whether a queue waits for the person, because the answer before it did not end well.
import type { Message } from '../../../../../server/protocol/conversations/message.ts'
import { useMessages } from '../../../lib/api/messages.ts'
import { useQueue, useQueues } from './queued-messages.ts'

/** After an answer that was stopped or failed, the next message may no longer be what the person wants. */
export const isPausing = (last: Message | undefined): boolean =>
  last?.status === 'stopped' || last?.status === 'failed' || last?.status === 'interrupted'

/** Always false for the message that the person wants sent now, and while a run is active. */
export function useIsPaused(conversationId: string, isRunning: boolean): boolean {
  const last = useMessages(conversationId).data?.at(-1)
  const urgent = useQueues((store) => store.urgent[conversationId])
  const [next] = useQueue(conversationId)
  return !isRunning && urgent !== next?.id && isPausing(last)
}
