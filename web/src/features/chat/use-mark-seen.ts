// Marks the open conversation as seen, as long as the page is visible.
import { useEffect } from 'react'
import type { Conversation } from '../../../../server/protocol/conversations/conversation.ts'
import { markSeen } from '../../lib/preferences/seen-conversations.ts'

/** Seen up to its latest change; the list and the tab title count the others as news. */
export function useMarkSeen({ id, updated_at: updatedAt }: Conversation): void {
  useEffect(() => {
    const look = (): void => {
      if (document.visibilityState === 'visible') markSeen(id, updatedAt)
    }
    look()
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  }, [id, updatedAt])
}
