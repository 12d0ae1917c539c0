// Takes over from the message field that index.html shows while the application loads.
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { type EarlyField, findEarlyField } from '../../../lib/browser/early-field.ts'

type Taken = {
  /** Called with what was written there. */
  onText(text: string, caret: number): void
  /** Called after that if the person has already sent it. */
  onSend(text: string): void
}

/** Text, selection, focus and scroll position go to `field`; nothing in between is drawn. */
function moveInto(to: HTMLTextAreaElement, { box, field }: EarlyField): string {
  const { value, selectionStart, selectionEnd, selectionDirection, scrollTop } = field
  // Also here, because React sets it later than the selection.
  to.value = value
  if (document.activeElement === field) to.focus({ preventScroll: true })
  to.setSelectionRange(selectionStart, selectionEnd, selectionDirection)
  to.scrollTop = scrollTop
  box.remove()
  return value
}

/**
 * Waits while an input method composes in the early field, and, when its message is to be sent, until `isReady`: until then
 * the person can go on writing there.
 */
export function useEarlyField(
  field: RefObject<HTMLTextAreaElement | null>,
  draftKey: string,
  isReady: boolean,
  taken: Taken,
): void {
  const newest = useRef(taken)
  newest.current = taken
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
    // An input method reports its last change after the end of the composition in some browsers, and before in others.
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
