// Marks the open conversation as seen while the page is visible.
import { useEffect } from 'react'
import type { Conversation } from '../../../../server/protocol/conversations/conversation.ts'
import { markSeen } from '../../lib/preferences/seen-conversations.ts'

/** Marks it as seen up to its latest change. The list and the tab title count unseen changes of others as news. */
export function useMarkSeen({ id, updated_at: updatedAt }: Conversation): void {
  useEffect(() => {
    const markIfVisible = (): void => {
      if (document.visibilityState === 'visible') markSeen(id, updatedAt)
    }
    markIfVisible()
    document.addEventListener('visibilitychange', markIfVisible)
    return () => document.removeEventListener('visibilitychange', markIfVisible)
  }, [id, updatedAt])
}
