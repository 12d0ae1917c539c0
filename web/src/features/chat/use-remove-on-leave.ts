// Removes a temporary conversation when the page leaves it. If that fails, the server removes it later.
import { useEffect } from 'react'
import type { Conversation } from '../../../../server/protocol/conversations/conversation.ts'
import { removeWhileLeaving } from '../../lib/api/conversations.ts'

/** Timers of pending removals; opening the conversation again at once cancels them. */
const leaving = new Map<string, number>()

/** Does nothing for conversations that are not temporary. */
export function useRemoveOnLeave({ id, temporary }: Conversation): void {
  useEffect(() => {
    if (!temporary) return
    window.clearTimeout(leaving.get(id))
    const remove = (): void => removeWhileLeaving(id)
    addEventListener('pagehide', remove)
    return () => {
      removeEventListener('pagehide', remove)
      // Delayed, because the effect may only be running again.
      leaving.set(id, window.setTimeout(remove, 0))
    }
  }, [id, temporary])
}
