// A short text on hover or keyboard focus, shown in one bubble that all tips share. Not Radix's tooltip: it would take the first screen's JavaScript from 133 KB to 167 KB (gzip).
import {
  cloneElement,
  type FocusEvent,
  type PointerEvent,
  type ReactElement,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
} from 'react'
import { create } from 'zustand'

type Side = 'top' | 'bottom' | 'left' | 'right'
type Shown = { id: string; text: string; side: Side; anchor: Element }

const useShown = create<{ shown: Shown | null }>(() => ({ shown: null }))

const OPEN_MS = 500
/** Moving from one tip to the next within this time shows the next one at once. */
const SKIP_MS = 200
/** Long enough to move the pointer from the button onto its tip. */
const CLOSE_MS = 90
const GAP_PIXELS = 6
const MARGIN_PIXELS = 8

let timer: ReturnType<typeof setTimeout> | undefined
let closedAt = Number.NEGATIVE_INFINITY

const after = (ms: number, action: () => void): void => {
  clearTimeout(timer)
  timer = setTimeout(action, ms)
}
const show = (shown: Shown): void => {
  clearTimeout(timer)
  useShown.setState({ shown })
}
const hide = (): void => {
  clearTimeout(timer)
  if (useShown.getState().shown !== null) closedAt = performance.now()
  useShown.setState({ shown: null })
}

/** The tip would cover the entries of the anchor's own menu. */
const hasOpenMenu = (anchor: Element): boolean =>
  anchor.getAttribute('aria-haspopup') === 'menu' && anchor.getAttribute('aria-expanded') === 'true'

const noHover = (): boolean => matchMedia('(hover: none)').matches

type Handler<E> = ((event: E) => void) | undefined
type Handlers = {
  onPointerEnter?: Handler<PointerEvent>
  onPointerLeave?: Handler<PointerEvent>
  onPointerDown?: Handler<PointerEvent>
  onFocus?: Handler<FocusEvent>
  onBlur?: Handler<FocusEvent>
}

export function Tip({
  text,
  side = 'bottom',
  children,
}: {
  text: string
  side?: Side
  children: ReactElement<Handlers>
}) {
  const id = useId()
  const { props } = children
  const tipOf = (anchor: Element): Shown => ({ id, text, side, anchor })
  // The anchor may be removed while its tip is shown; then no pointerleave event ever comes.
  useEffect(
    () => () => {
      if (useShown.getState().shown?.id === id) hide()
    },
    [id],
  )
  return cloneElement(children, {
    onPointerEnter: (event: PointerEvent) => {
      props.onPointerEnter?.(event)
      const { currentTarget: anchor, pointerType } = event
      if (pointerType === 'touch') return
      const wait = performance.now() - closedAt < SKIP_MS ? 0 : OPEN_MS
      after(wait, () => {
        if (anchor.isConnected && !hasOpenMenu(anchor)) show(tipOf(anchor))
      })
    },
    onPointerLeave: (event: PointerEvent) => {
      props.onPointerLeave?.(event)
      after(CLOSE_MS, hide)
    },
    onPointerDown: (event: PointerEvent) => {
      hide()
      props.onPointerDown?.(event)
    },
    // Show the tip for keyboard focus only, not for a focus that the page moved.
    onFocus: (event: FocusEvent) => {
      props.onFocus?.(event)
      const { currentTarget: anchor } = event
      if (anchor.matches(':focus-visible') && !noHover() && !hasOpenMenu(anchor))
        show(tipOf(anchor))
    },
    onBlur: (event: FocusEvent) => {
      props.onBlur?.(event)
      hide()
    },
  })
}

/** Places the bubble on its side, or on the opposite one if there is no room, and always within the window. */
function place(bubble: HTMLElement, { anchor, side }: Shown): void {
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
  const within = (value: number, size: number, room: number): number =>
    Math.max(MARGIN_PIXELS, Math.min(value, room - size - MARGIN_PIXELS))
  bubble.style.left = `${within(x, width, window.innerWidth)}px`
  bubble.style.top = `${within(y, height, window.innerHeight)}px`
}

/** The bubble. Mount it once. */
export function TipBubble() {
  const { shown } = useShown()
  const bubble = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (bubble.current !== null && shown !== null) place(bubble.current, shown)
  }, [shown])
  useEffect(() => {
    if (shown === null) return
    const { anchor, id } = shown
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') hide()
    }
    const onScroll = (event: Event): void => {
      if (event.target instanceof Node && event.target.contains(anchor)) hide()
    }
    const menu = new MutationObserver(() => {
      if (hasOpenMenu(anchor)) hide()
    })
    menu.observe(anchor, { attributeFilter: ['aria-expanded'] })
    // If the tip equals the accessible name, a description would only repeat it.
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
      onPointerEnter={() => clearTimeout(timer)}
      onPointerLeave={() => after(CLOSE_MS, hide)}
    >
      {shown.text}
    </div>
  )
}
