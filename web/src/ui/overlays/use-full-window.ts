// A part of the page that fills the window for a while, without being moved in the document.
import { type RefObject, useEffect, useRef } from 'react'
import { coverComposer } from '../../lib/browser/composer-cover.ts'
import { useNewest } from '../../lib/newest.ts'
import { useCloseWithBack } from './close-with-back.ts'

/** Regions of notices stay: they are above everything. */
const STAYS = ':is(script, style, [aria-live], [role="status"]), :has([data-sonner-toaster])'

/** Makes everything around the element unreachable for the keyboard and screen readers. Returns the function that ends it. */
function isolate(element: Element): () => void {
  const made: HTMLElement[] = []
  const around: HTMLElement[] = []
  for (let at = element; at !== document.body && at.parentElement !== null; at = at.parentElement) {
    // A region that scrolls takes the focus itself.
    if (at !== element && at instanceof HTMLElement && at.getAttribute('tabindex') === '0') {
      at.tabIndex = -1
      around.push(at)
    }
    for (const sibling of at.parentElement.children) {
      if (sibling === at || !(sibling instanceof HTMLElement) || sibling.inert) continue
      if (sibling.matches(STAYS)) continue
      sibling.inert = true
      made.push(sibling)
    }
  }
  return () => {
    for (const one of made) one.inert = false
    for (const one of around) one.tabIndex = 0
  }
}

/**
 * While `isFull`, only the returned element can be used; Escape, the back button of a phone and whatever uncovers the composer
 * call `leave`.
 */
export function useFullWindow(
  isFull: boolean,
  leave: () => void,
): RefObject<HTMLDivElement | null> {
  const element = useRef<HTMLDivElement>(null)
  const newest = useNewest(leave)
  useCloseWithBack(isFull, leave)
  useEffect(() => {
    if (!isFull || element.current === null) return
    const reconnect = isolate(element.current)
    const uncover = coverComposer(() => newest.current())
    const onKey = (event: KeyboardEvent): void => {
      // A dialog above it has its own Escape.
      const isHere = element.current?.contains(document.activeElement) === true
      if (event.key !== 'Escape' || !(isHere || document.activeElement === document.body)) return
      // Neither the panel around it nor the answer that is being written ends with the same key.
      event.stopPropagation()
      event.preventDefault()
      newest.current()
    }
    addEventListener('keydown', onKey, { capture: true })
    return () => {
      reconnect()
      uncover()
      removeEventListener('keydown', onKey, { capture: true })
    }
  }, [isFull])
  return element
}
