// Where a growing text stands: its end stays in view, or one of its places at the top, until the reader scrolls.
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'

/** A scroll position this close to the end counts as the end. */
const NEAR_END_PIXELS = 80

const distanceToEnd = ({ scrollHeight, scrollTop, clientHeight }: HTMLElement): number =>
  scrollHeight - scrollTop - clientHeight

/** What stays in view: the end, the place that a function returns as a scroll position, or nothing. */
type Kept = 'end' | ((scroller: HTMLElement) => number) | null

/**
 * `content` grows inside `scroller`; its end is kept in view at first. Returns whether the end is in view, `toEnd` to keep it
 * there, `keep` to keep another place, and `release` to keep none. The reader's own scrolling keeps the end once they reach
 * it, and otherwise nothing.
 */
export function useScrollPosition(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
) {
  const kept = useRef<Kept>('end')
  /** The last known scroll position: content that shrinks or loads also changes it, which is no scrolling by the reader. */
  const lastTop = useRef(0)
  const [atEnd, setAtEnd] = useState(true)

  const apply = useCallback((): void => {
    const element = scroller.current
    if (element === null) return
    if (kept.current === 'end') element.scrollTop = element.scrollHeight
    else if (kept.current !== null) element.scrollTop = kept.current(element)
    lastTop.current = element.scrollTop
    setAtEnd(kept.current === 'end' || distanceToEnd(element) <= NEAR_END_PIXELS)
  }, [scroller])

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
      if (moved > 1) kept.current = distance <= NEAR_END_PIXELS ? 'end' : null
      // Content that shrinks moves the position up, too, but to the very end.
      else if (moved < -1 && distance > 2) kept.current = null
      lastTop.current = element.scrollTop
      setAtEnd(kept.current === 'end' || distance <= NEAR_END_PIXELS)
    }
    const observer = new ResizeObserver(apply)
    element.addEventListener('scroll', onScroll, { passive: true })
    observer.observe(inner)
    observer.observe(element)
    return () => {
      element.removeEventListener('scroll', onScroll)
      observer.disconnect()
    }
  }, [scroller, content, apply])

  return { atEnd, toEnd, keep, release }
}
