// Where a growing text stands: its end stays in view, or one of its places at the top, until the reader scrolls.
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { shownCardsIn } from '../shown-cards.ts'

/** A scroll position this close to the end counts as the end. */
const NEAR_END_PIXELS = 80

const distanceToEnd = ({ scrollHeight, scrollTop, clientHeight }: HTMLElement): number =>
  scrollHeight - scrollTop - clientHeight

/** The height of the button that leads to the end, with its distance from the lower edge. */
const BUTTON_PIXELS = 56

/** Whether a card that waits for a decision is where the button would be, which must not cover the card's own buttons. */
function hasCardBelow(scroller: HTMLElement): boolean {
  const edge = scroller.getBoundingClientRect().bottom
  return shownCardsIn(scroller).some((card) => {
    const { top, bottom } = card.getBoundingClientRect()
    return top < edge && bottom > edge - BUTTON_PIXELS
  })
}

/** What stays in view: the end, the place that a function returns as a scroll position, or nothing. */
type Kept = 'end' | ((scroller: HTMLElement) => number) | null

/**
 * `content` grows inside `scroller`; its end is kept in view at first. Returns whether the end is out of view and a button
 * may lead to it, `toEnd` to keep it in view, `keep` to keep another place, `keepAgain` to go back to the kept one before the
 * browser tells of a movement, and `release` to keep none. The reader's own scrolling keeps the end once they reach it, and
 * otherwise nothing.
 */
export function useScrollPosition(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
) {
  const kept = useRef<Kept>('end')
  /** The last known scroll position: content that shrinks or loads also changes it, which is no scrolling by the reader. */
  const lastTop = useRef(0)
  const [isAway, setAway] = useState(false)
  /** Call it after each change of `kept` or of the position. */
  const showAway = useCallback((element: HTMLElement): void => {
    const isFar = kept.current !== 'end' && distanceToEnd(element) > NEAR_END_PIXELS
    setAway(isFar && !hasCardBelow(element))
  }, [])

  const apply = useCallback((): void => {
    const element = scroller.current
    if (element === null) return
    if (kept.current === 'end') element.scrollTop = element.scrollHeight
    else if (kept.current !== null) element.scrollTop = kept.current(element)
    lastTop.current = element.scrollTop
    showAway(element)
  }, [scroller, showAway])

  const keep = useCallback(
    (place: Kept): void => {
      kept.current = place
      apply()
    },
    [apply],
  )
  const toEnd = useCallback(() => keep('end'), [keep])
  const release = useCallback(() => keep(null), [keep])

  useEffect(() => {
    const element = scroller.current
    const inner = content.current
    if (element === null || inner === null) return
    lastTop.current = element.scrollTop
    const onScroll = (): void => {
      const moved = element.scrollTop - lastTop.current
      const distance = distanceToEnd(element)
      // The browser moves down, too, where something above grows. Nobody leaves the end that way.
      if (moved > 1 && kept.current !== 'end')
        kept.current = distance <= NEAR_END_PIXELS ? 'end' : null
      // Content that shrinks moves the position up, too, but to the very end.
      if (moved < -1 && distance > 2) kept.current = null
      lastTop.current = element.scrollTop
      showAway(element)
    }
    const observer = new ResizeObserver(apply)
    element.addEventListener('scroll', onScroll, { passive: true })
    observer.observe(inner)
    observer.observe(element)
    return () => {
      element.removeEventListener('scroll', onScroll)
      observer.disconnect()
    }
  }, [scroller, content, apply, showAway])

  return { isAway, toEnd, keep, keepAgain: apply, release }
}
