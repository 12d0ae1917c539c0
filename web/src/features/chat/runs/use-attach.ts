// Follows the active run of a conversation, wherever it was started.
import type { QueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Conversation } from '../../../../../server/protocol/conversations/conversation.ts'
import { messageKeys } from '../../../lib/api/messages.ts'
import { follow } from './follow-run.ts'

/** Does nothing while the conversation has no active run or has not loaded. */
export function useAttach(
  client: QueryClient,
  id: string,
  conversation: Conversation | undefined,
): void {
  const runId = conversation?.active_run_id ?? null
  useEffect(() => {
    if (runId === null) return
    void follow({ conversationId: id, runId, client })
    // The server's messages may be newer than the cached ones.
    void client.invalidateQueries({ queryKey: messageKeys.list(id) })
  }, [id, runId, client])
}
