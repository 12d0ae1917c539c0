// Takes over from the message field that index.html shows while the application loads.

import { type RefObject, useEffect, useLayoutEffect } from 'react'
import { type EarlyField, findEarlyField } from '../../../lib/browser/early-field.ts'
import { useNewest } from '../../../lib/newest.ts'

type Taken = {
  /** Receives the text of the early field. */
  onText(text: string, caret: number): void
  /** Called after `onText` if the user has already pressed the send key. */
  onSend(text: string): void
}

/** Moves text, selection, focus and scroll position to `field`, without a paint in between. */
function moveInto(to: HTMLTextAreaElement, { box, field }: EarlyField): string {
  const { value, selectionStart, selectionEnd, selectionDirection, scrollTop } = field
  // Set it here too, because React sets it after the selection.
  to.value = value
  if (document.activeElement === field) to.focus({ preventScroll: true })
  to.setSelectionRange(selectionStart, selectionEnd, selectionDirection)
  to.scrollTop = scrollTop
  box.remove()
  return value
}

/**
 * Takes over once no input method composes in the early field and, if its message is to be sent, once `isReady`. Until
 * then the user can keep writing there.
 */
export function useEarlyField(
  field: RefObject<HTMLTextAreaElement | null>,
  draftKey: string,
  isReady: boolean,
  taken: Taken,
): void {
  const newest = useNewest(taken)
  useLayoutEffect(() => {
    const early = findEarlyField(draftKey)
    if (early === null) return
    const { box } = early
    box.dataset.claimed = ''
    const take = (): void => {
      const isSent = box.dataset.send !== undefined
      if (field.current === null || !box.isConnected || box.dataset.composing !== undefined) return
      if (isSent && !isReady) return
      const text = moveInto(field.current, early)
      newest.current.onText(text, field.current.selectionStart)
      if (isSent) newest.current.onSend(text)
    }
    // Some browsers fire the last input event after compositionend, others before.
    const takeSoon = (): void => void setTimeout(take)
    take()
    box.addEventListener('input', takeSoon)
    box.addEventListener('compositionend', takeSoon)
    return () => {
      box.removeEventListener('input', takeSoon)
      box.removeEventListener('compositionend', takeSoon)
    }
  }, [field, draftKey, isReady])
  useEffect(() => () => findEarlyField(draftKey)?.box.remove(), [draftKey])
}
