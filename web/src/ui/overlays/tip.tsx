// A short text on hover or keyboard focus, shown in one bubble that all tips share (`tip-bubble.tsx`). Not Radix's tooltip: it would take the first screen's JavaScript from 133 KB to 167 KB (gzip).
import {
  cloneElement,
  type FocusEvent,
  type PointerEvent,
  type ReactElement,
  useEffect,
  useId,
} from 'react'
import { create } from 'zustand'

type Side = 'top' | 'bottom' | 'left' | 'right'

/** The tip in the bubble, and the element that it belongs to. */
export type ShownTip = { id: string; text: string; side: Side; anchor: Element }

export const useShownTip = create<{ shown: ShownTip | null }>(() => ({ shown: null }))

const OPEN_MS = 500
/** Moving from one tip to the next within this time shows the next one at once. */
const SKIP_MS = 200
/** Long enough to move the pointer from the button onto its tip. */
const CLOSE_MS = 90

let timer: ReturnType<typeof setTimeout> | undefined
let closedAt = Number.NEGATIVE_INFINITY

const after = (ms: number, action: () => void): void => {
  clearTimeout(timer)
  timer = setTimeout(action, ms)
}
const show = (shown: ShownTip): void => {
  clearTimeout(timer)
  useShownTip.setState({ shown })
}

/** Hides the bubble, and drops one that was about to be shown. */
export const hideTip = (): void => {
  clearTimeout(timer)
  if (useShownTip.getState().shown !== null) closedAt = performance.now()
  useShownTip.setState({ shown: null })
}

/** The tip would cover the entries of the anchor's own menu. */
export const hasOpenMenu = (anchor: Element): boolean =>
  anchor.getAttribute('aria-haspopup') === 'menu' && anchor.getAttribute('aria-expanded') === 'true'

/** While the pointer is on the tip itself, it stays. */
export const keepTip = (): void => clearTimeout(timer)
/** The pointer has left the button or its tip. */
export const leaveTip = (): void => after(CLOSE_MS, hideTip)

const noHover = (): boolean => matchMedia('(hover: none)').matches

type Handler<E> = ((event: E) => void) | undefined
type Handlers = {
  onPointerEnter?: Handler<PointerEvent>
  onPointerLeave?: Handler<PointerEvent>
  onPointerDown?: Handler<PointerEvent>
  onFocus?: Handler<FocusEvent>
  onBlur?: Handler<FocusEvent>
}

/** `children` is one element that takes the handlers and `aria-describedby`. */
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
  const tipOf = (anchor: Element): ShownTip => ({ id, text, side, anchor })
  // The anchor may be removed while its tip is shown; then no pointerleave event ever comes.
  useEffect(
    () => () => {
      if (useShownTip.getState().shown?.id === id) hideTip()
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
      leaveTip()
    },
    onPointerDown: (event: PointerEvent) => {
      hideTip()
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
      hideTip()
    },
  })
}
