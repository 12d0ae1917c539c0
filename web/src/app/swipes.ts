// Horizontal swipes on a touch screen: recognized early, and left alone where something else moves sideways.
import { shownDirection } from '../lib/i18n/languages.ts'

/** Pixels along which a finger must move sideways. */
const DISTANCE_PIXELS = 48
/** Wide enough to begin beside the strip that phones keep for going back. */
const EDGE_PIXELS = 40

/** A swipe that the page answers, and how. */
export interface Swipe {
  /** `end`: the way in which the sidebar opens, to the right, in right-to-left languages to the left; `start`: back. */
  readonly to: 'start' | 'end'
  /** Counts only from the edge that the sidebar comes from. */
  readonly fromEdge: boolean
  readonly onSwipe: () => void
}

const isRightToLeft = (): boolean => shownDirection() === 'rtl'

/** Whether a swipe there means something else: a slider, selected text, or something that scrolls that way. */
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

/** Calls `onSwipe` once per swipe of one finger that begins in the element; returns how to stop watching. */
export function watchSwipes(element: HTMLElement, { to, fromEdge, onSwipe }: Swipe): () => void {
  const controller = new AbortController()
  const options = { passive: true, signal: controller.signal }
  let began: { x: number; y: number } | null = null
  const forget = (): void => {
    began = null
  }
  element.addEventListener(
    'touchstart',
    (event) => {
      began = null
      const touch = event.touches[0]
      if (touch === undefined || event.touches.length > 1) return
      // A page that is zoomed in is moved sideways to be read.
      if ((visualViewport?.scale ?? 1) > 1.01) return
      const inset = isRightToLeft() ? innerWidth - touch.clientX : touch.clientX
      if (fromEdge && inset > EDGE_PIXELS) return
      if (!isTaken(event.target, to)) began = { x: touch.clientX, y: touch.clientY }
    },
    options,
  )
  element.addEventListener(
    'touchmove',
    (event) => {
      const touch = event.touches[0]
      if (began === null || touch === undefined) return
      const along = (touch.clientX - began.x) * (isRightToLeft() === (to === 'start') ? 1 : -1)
      const across = Math.abs(touch.clientY - began.y)
      if (event.touches.length > 1 || across > DISTANCE_PIXELS / 2) return forget()
      if (along < DISTANCE_PIXELS) return
      forget()
      onSwipe()
    },
    options,
  )
  element.addEventListener('touchend', forget, options)
  element.addEventListener('touchcancel', forget, options)
  return () => controller.abort()
}
