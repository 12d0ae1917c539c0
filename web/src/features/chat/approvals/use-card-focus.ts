// Where the focus is while a person decides a tool call: on the card, and on the next one when it goes.
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { isComposing } from '../../../lib/browser/composing.ts'
import { focusMessageField } from '../focus-message-field.ts'

/** The first card scrolls into view and takes the focus, unless the person is typing. */
export function useFocusOnArrival(card: RefObject<HTMLElement | null>, folded: boolean): void {
  useEffect(() => {
    if (folded) return
    const focused = document.activeElement
    // A card that arrived a moment earlier but belongs after this one is untouched if it has the focus itself.
    const focusedCard = focused?.closest('[data-approval]')
    if (focusedCard != null && focusedCard !== focused) return
    const typing = focused instanceof HTMLTextAreaElement && focused.value !== ''
    if (!typing) card.current?.focus({ preventScroll: true })
    card.current?.scrollIntoView({ block: 'nearest' })
  }, [card, folded])
}

/** Wherever the focus is, Escape cancels the unfinished decision and nothing else. */
export function useEscape(isActive: boolean, cancel: () => void): void {
  useEffect(() => {
    if (!isActive) return
    const onEscape = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || isComposing(event)) return
      if (document.querySelector('[role="dialog"],[role="alertdialog"],[role="menu"]')) return
      event.preventDefault()
      event.stopPropagation()
      cancel()
    }
    document.addEventListener('keydown', onEscape, { capture: true })
    return () => document.removeEventListener('keydown', onEscape, { capture: true })
  }, [isActive, cancel])
}

/**
 * Moves the focus on when the card is removed. The stream may remove it before the response to the decision arrives; while it
 * is removed it still has the focus.
 * @returns set it to true while a decision is being sent.
 */
export function useFocusOnLeaving(card: RefObject<HTMLElement | null>): RefObject<boolean> {
  const deciding = useRef(false)
  useLayoutEffect(() => {
    const element = card.current
    return () => {
      if (element?.contains(document.activeElement) || deciding.current) focusNext(element)
    }
  }, [card])
  return deciding
}

/** Moves the focus to the next card, or to the composer unless that would open an on-screen keyboard. */
export function focusNext(card: HTMLElement | null): void {
  if (card === null) return
  if (!card.contains(document.activeElement) && document.activeElement !== document.body) return
  const others = [...document.querySelectorAll<HTMLElement>('[data-approval]')]
  const next = others.find((other) => other !== card)
  if (next !== undefined) {
    next.focus({ preventScroll: true })
    next.scrollIntoView({ block: 'nearest' })
  } else focusMessageField()
}
