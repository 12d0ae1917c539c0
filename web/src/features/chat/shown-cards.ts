// The cards on the page that ask a person to decide or to answer. A list of them is at hand at once, however long the conversation is.
import { type RefObject, useLayoutEffect } from 'react'

const shown = new Set<HTMLElement>()

/** Lists the card of the ref as long as it is on the page. */
export function useShownCard(card: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const element = card.current
    if (element === null) return
    shown.add(element)
    return () => void shown.delete(element)
  }, [card])
}

/** The cards inside an element. */
export const shownCardsIn = (element: HTMLElement): HTMLElement[] =>
  [...shown].filter((card) => element.contains(card))
