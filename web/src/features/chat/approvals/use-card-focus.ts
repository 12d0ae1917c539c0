// Hooks for the focus during approvals: it moves to the first card, and to the next one when a card is removed.
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { isComposing } from '../../../lib/browser/composing.ts'
import { focusMessageField } from '../../../lib/browser/focus-message-field.ts'

/** Scrolls the first card into view and focuses it, unless the user is typing. `isQuiet`: does neither. */
export function useFocusOnArrival(card: RefObject<HTMLElement | null>, isQuiet: boolean): void {
  useEffect(() => {
    if (isQuiet) return
    const focused = document.activeElement
    // Another card may have arrived a moment earlier although it belongs after this one: take its focus if it was untouched.
    const focusedCard = focused?.closest('[data-approval]')
    if (focusedCard != null && focusedCard !== focused) return
    const typing = focused instanceof HTMLTextAreaElement && focused.value !== ''
    if (!typing) card.current?.focus({ preventScroll: true })
    card.current?.scrollIntoView({ block: 'nearest' })
  }, [card, isQuiet])
}

/** Makes Escape cancel the unfinished decision and nothing else, wherever the focus is. */
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
 * Moves the focus when the card is removed. The stream may remove the card before the response to the decision arrives;
 * during the removal it still has the focus. Returns a ref; set it to true while a decision is being sent.
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

/** Moves the focus to the next card, or else to the composer, or where there is none or that opens an on-screen keyboard, to the view. */
export function focusNext(card: HTMLElement | null): void {
  if (card === null) return
  if (!card.contains(document.activeElement) && document.activeElement !== document.body) return
  const others = [...document.querySelectorAll<HTMLElement>('[data-approval]')]
  const next = others.find((other) => other !== card)
  if (next !== undefined) {
    next.focus({ preventScroll: true })
    next.scrollIntoView({ block: 'nearest' })
  } else focusMessageField(card)
}
