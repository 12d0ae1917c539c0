// Keeps the newest text in view while the user is at the end, until the user scrolls up.
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'

/** A scroll position this close to the end counts as the end. */
const NEAR_END_PIXELS = 80

const distanceToEnd = ({ scrollHeight, scrollTop, clientHeight }: HTMLElement): number =>
  scrollHeight - scrollTop - clientHeight

/**
 * `content` grows inside `scroller`. Returns whether the end is in view, `toEnd` to scroll there, and `release` to stop
 * following.
 */
export function useStickToEnd(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
) {
  const stuck = useRef(true)
  /** The last known scroll position: shrinking content also moves it up, which is not a scroll by the user. */
  const lastTop = useRef(0)
  const [atEnd, setAtEnd] = useState(true)

  const toEnd = useCallback(() => {
    const element = scroller.current
    if (element === null) return
    stuck.current = true
    setAtEnd(true)
    element.scrollTop = element.scrollHeight
    lastTop.current = element.scrollTop
  }, [scroller])

  useEffect(() => {
    const element = scroller.current
    const inner = content.current
    if (element === null || inner === null) return
    lastTop.current = element.scrollTop
    const onScroll = (): void => {
      const distance = distanceToEnd(element)
      // Only the user's own scrolling up releases it, not growing content.
      if (element.scrollTop < lastTop.current - 1 && distance > NEAR_END_PIXELS)
        stuck.current = false
      else if (distance <= NEAR_END_PIXELS) stuck.current = true
      lastTop.current = element.scrollTop
      setAtEnd(stuck.current)
    }
    const observer = new ResizeObserver(() => {
      if (!stuck.current) return
      element.scrollTop = element.scrollHeight
      lastTop.current = element.scrollTop
    })
    element.addEventListener('scroll', onScroll, { passive: true })
    observer.observe(inner)
    observer.observe(element)
    return () => {
      element.removeEventListener('scroll', onScroll)
      observer.disconnect()
    }
  }, [scroller, content])

  /** Stops following, so that another scroll target stays in view. */
  const release = useCallback(() => {
    const element = scroller.current
    stuck.current = false
    // Content that fits completely is at its end; a later scroll event corrects this.
    setAtEnd(element === null || distanceToEnd(element) <= NEAR_END_PIXELS)
  }, [scroller])

  return { atEnd, toEnd, release }
}
