// Removes a temporary conversation when the page leaves it. Where that fails, the server removes it after a while.
import { useEffect } from 'react'
import type { Conversation } from '../../../../server/protocol/conversations/conversation.ts'
import { removeWhileLeaving } from '../../lib/api/conversations.ts'

/** Removals that are about to happen; opening the conversation again at once takes them back. */
const leaving = new Map<string, number>()

/** Does nothing for other conversations. */
export function useRemoveOnLeave({ id, temporary }: Conversation): void {
  useEffect(() => {
    if (!temporary) return
    window.clearTimeout(leaving.get(id))
    const remove = (): void => removeWhileLeaving(id)
    addEventListener('pagehide', remove)
    return () => {
      removeEventListener('pagehide', remove)
      // The effect may only be running again.
      leaving.set(id, window.setTimeout(remove, 0))
    }
  }, [id, temporary])
}
