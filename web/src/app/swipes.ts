// Recognizes horizontal swipes on touch screens, except where something else scrolls or moves sideways.
import { shownDirection } from '../lib/i18n/direction.ts'

/** The minimum horizontal distance of a swipe. */
const DISTANCE_PIXELS = 48
/** The width of the start zone at the edge: wider than the strip that phones reserve for going back. */
const EDGE_PIXELS = 40

/** A swipe that the page handles. */
export interface Swipe {
  /** The direction: `end` opens the sidebar (rightwards, or leftwards in right-to-left languages), `start` is the opposite. */
  readonly to: 'start' | 'end'
  /** Whether the swipe must begin at the edge of the sidebar. */
  readonly fromEdge: boolean
  readonly onSwipe: () => void
}

const isRightToLeft = (): boolean => shownDirection() === 'rtl'

/** Whether a swipe there has another meaning: a slider, selected text, or an element that scrolls in that direction. */
function isTaken(target: EventTarget | null, to: Swipe['to']): boolean {
  if (!(target instanceof Element)) return true
  if (target.closest('input[type="range"], .cm-editor') !== null) return true
  if (getSelection()?.isCollapsed === false) return true
  for (let at: Element | null = target; at !== null; at = at.parentElement) {
    const hidden = at.scrollWidth - at.clientWidth
    if (hidden <= 1 || !/auto|scroll/.test(getComputedStyle(at).overflowX)) continue
    const scrolled = Math.abs(at.scrollLeft)
    if (to === 'end' ? scrolled > 1 : scrolled < hidden - 1) return true
  }
  return false
}

/** Calls `onSwipe` once per one-finger swipe that begins in the element. Returns the function that stops watching. */
export function watchSwipes(element: HTMLElement, { to, fromEdge, onSwipe }: Swipe): () => void {
  const controller = new AbortController()
  const options = { passive: true, signal: controller.signal }
  let start: { x: number; y: number } | null = null
  const reset = (): void => {
    start = null
  }
  element.addEventListener(
    'touchstart',
    (event) => {
      start = null
      const touch = event.touches[0]
      if (touch === undefined || event.touches.length > 1) return
      // On a zoomed page, a finger pans the page.
      if ((visualViewport?.scale ?? 1) > 1.01) return
      const inset = isRightToLeft() ? innerWidth - touch.clientX : touch.clientX
      if (fromEdge && inset > EDGE_PIXELS) return
      if (!isTaken(event.target, to)) start = { x: touch.clientX, y: touch.clientY }
    },
    options,
  )
  element.addEventListener(
    'touchmove',
    (event) => {
      const touch = event.touches[0]
      if (start === null || touch === undefined) return
      const along = (touch.clientX - start.x) * (isRightToLeft() === (to === 'start') ? 1 : -1)
      const across = Math.abs(touch.clientY - start.y)
      if (event.touches.length > 1 || across > DISTANCE_PIXELS / 2) return reset()
      if (along < DISTANCE_PIXELS) return
      reset()
      onSwipe()
    },
    options,
  )
  element.addEventListener('touchend', reset, options)
  element.addEventListener('touchcancel', reset, options)
  return () => controller.abort()
}
