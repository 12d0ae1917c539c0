// Follows the active runs of a conversation, wherever they were started.
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
  useRun(client, id, conversation?.active_run_id ?? null)
  // A copy for use without the server may be older than this field.
  useRun(client, id, conversation?.beside_run_id ?? null)
}

function useRun(client: QueryClient, id: string, runId: string | null): void {
  useEffect(() => {
    if (runId === null) return
    void follow({ conversationId: id, runId, client })
    // The server's messages may be newer than the cached ones.
    void client.invalidateQueries({ queryKey: messageKeys.list(id) })
  }, [id, runId, client])
}
