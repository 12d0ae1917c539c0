// The bubble that shows the current tip: its placement, and the events that close it.
import { useEffect, useLayoutEffect, useRef } from 'react'
import { hasOpenMenu, hideTip, keepTip, leaveTip, type ShownTip, useShownTip } from './tip.tsx'

const GAP_PIXELS = 6
const MARGIN_PIXELS = 8

/** Places the bubble on the chosen side, or on the opposite one if only that has space, and always inside the window. */
function place(bubble: HTMLElement, { anchor, side }: ShownTip): void {
  const at = anchor.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = bubble
  const fits = {
    top: at.top - height - GAP_PIXELS >= MARGIN_PIXELS,
    bottom: at.bottom + height + GAP_PIXELS <= window.innerHeight - MARGIN_PIXELS,
    left: at.left - width - GAP_PIXELS >= MARGIN_PIXELS,
    right: at.right + width + GAP_PIXELS <= window.innerWidth - MARGIN_PIXELS,
  }
  const opposite = { top: 'bottom', bottom: 'top', left: 'right', right: 'left' } as const
  const on = !fits[side] && fits[opposite[side]] ? opposite[side] : side
  const beside = on === 'left' || on === 'right'
  const x = beside
    ? on === 'left'
      ? at.left - width - GAP_PIXELS
      : at.right + GAP_PIXELS
    : at.left + (at.width - width) / 2
  const y = beside
    ? at.top + (at.height - height) / 2
    : on === 'top'
      ? at.top - height - GAP_PIXELS
      : at.bottom + GAP_PIXELS
  const within = (value: number, size: number, available: number): number =>
    Math.max(MARGIN_PIXELS, Math.min(value, available - size - MARGIN_PIXELS))
  bubble.style.left = `${within(x, width, window.innerWidth)}px`
  bubble.style.top = `${within(y, height, window.innerHeight)}px`
}

/** The bubble that all tips share. Mount it once. */
export function TipBubble() {
  const { shown } = useShownTip()
  const bubble = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (bubble.current !== null && shown !== null) place(bubble.current, shown)
  }, [shown])
  useEffect(() => {
    if (shown === null) return
    const { anchor, id } = shown
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') hideTip()
    }
    const onScroll = (event: Event): void => {
      if (event.target instanceof Node && event.target.contains(anchor)) hideTip()
    }
    const menu = new MutationObserver(() => {
      if (hasOpenMenu(anchor)) hideTip()
    })
    menu.observe(anchor, { attributeFilter: ['aria-expanded'] })
    // A description equal to the accessible name would be read twice.
    const describes = anchor.getAttribute('aria-label') !== shown.text
    if (describes) anchor.setAttribute('aria-describedby', id)
    addEventListener('keydown', onKey, true)
    addEventListener('scroll', onScroll, true)
    return () => {
      menu.disconnect()
      if (describes) anchor.removeAttribute('aria-describedby')
      removeEventListener('keydown', onKey, true)
      removeEventListener('scroll', onScroll, true)
    }
  }, [shown])
  if (shown === null) return null
  return (
    <div
      ref={bubble}
      id={shown.id}
      role="tooltip"
      className="pointer-events-auto fixed top-0 left-0 z-60 max-w-72 animate-appear rounded-md bg-ink px-2 py-1 text-xs text-paper shadow-float"
      onPointerEnter={keepTip}
      onPointerLeave={leaveTip}
    >
      {shown.text}
    </div>
  )
}
