// Follows a conversation's active run, wherever it was started.
import type { QueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Conversation } from '../../../../../server/protocol/conversations/conversation.ts'
import { messageKeys } from '../../../lib/api/messages.ts'
import { follow } from './follow-run.ts'

/** Does nothing while the conversation has no active run or has not been loaded. */
export function useAttach(
  client: QueryClient,
  id: string,
  conversation: Conversation | undefined,
): void {
  const runId = conversation?.active_run_id ?? null
  useEffect(() => {
    if (runId === null) return
    void follow({ conversationId: id, runId, client })
    // Its messages may be newer than the cached page.
    void client.invalidateQueries({ queryKey: messageKeys.list(id) })
  }, [id, runId, client])
}
