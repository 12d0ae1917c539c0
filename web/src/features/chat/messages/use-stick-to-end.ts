// Keeps the newest text in view while the reader is at the end, until they scroll up.
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'

/** Within this many pixels of the end counts as being there. */
const NEAR_END_PIXELS = 80

const distanceToEnd = ({ scrollHeight, scrollTop, clientHeight }: HTMLElement): number =>
  scrollHeight - scrollTop - clientHeight

/**
 * `content` is what grows inside `scroller`. Returns whether the end is in view, `toEnd` to go
 * there and `release` to stay where something else scrolls to.
 */
export function useStickToEnd(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
) {
  const stuck = useRef(true)
  /** Where the list was last seen or put: content that shrinks also moves it up, which is nobody's scrolling. */
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
      // Only the reader's own scrolling up releases it; growing content does not.
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

  /** Lets the reader stay where something else scrolls to. */
  const release = useCallback(() => {
    const element = scroller.current
    stuck.current = false
    // What is shown completely is at its end; if it is scrolled, that says where it is.
    setAtEnd(element === null || distanceToEnd(element) <= NEAR_END_PIXELS)
  }, [scroller])

  return { atEnd, toEnd, release }
}
