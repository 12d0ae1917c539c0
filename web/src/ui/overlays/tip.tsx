// A short text on hover or keyboard focus, shown in one bubble that all tips share (`tip-bubble.tsx`). Radix's tooltip would increase the first screen's JavaScript from 133 KB to 167 KB (gzip).
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

/** The tip in the bubble and its element. */
export type ShownTip = { id: string; text: string; side: Side; anchor: Element }

/** The open tip; null if none is open. */
export const useShownTip = create<{ shown: ShownTip | null }>(() => ({ shown: null }))

const OPEN_DELAY_MS = 500
/** Within this time after a tip closes, the next one opens without delay. */
const SKIP_DELAY_MS = 200
/** Long enough to move the pointer from the button onto its tip. */
const CLOSE_DELAY_MS = 90

let timer: ReturnType<typeof setTimeout> | undefined
let closedAt = Number.NEGATIVE_INFINITY

const startTimer = (ms: number, action: () => void): void => {
  clearTimeout(timer)
  timer = setTimeout(action, ms)
}
const show = (shown: ShownTip): void => {
  clearTimeout(timer)
  useShownTip.setState({ shown })
}

/** Hides the tip and cancels one that is about to open. */
export const hideTip = (): void => {
  clearTimeout(timer)
  if (useShownTip.getState().shown !== null) closedAt = performance.now()
  useShownTip.setState({ shown: null })
}

/** Whether the anchor's menu is open: a tip would cover its items. */
export const hasOpenMenu = (anchor: Element): boolean =>
  anchor.getAttribute('aria-haspopup') === 'menu' && anchor.getAttribute('aria-expanded') === 'true'

/** Keeps the tip open while the pointer is on it. */
export const keepTip = (): void => clearTimeout(timer)
/** Call it when the pointer leaves the element or the tip; hides the tip after a short delay. */
export const leaveTip = (): void => startTimer(CLOSE_DELAY_MS, hideTip)

const noHover = (): boolean => matchMedia('(hover: none)').matches

type Handler<E> = ((event: E) => void) | undefined
type Handlers = {
  onPointerEnter?: Handler<PointerEvent>
  onPointerLeave?: Handler<PointerEvent>
  onPointerDown?: Handler<PointerEvent>
  onFocus?: Handler<FocusEvent>
  onBlur?: Handler<FocusEvent>
}

/** Adds a tip to `children`, one element that accepts the handlers and `aria-describedby`. */
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
  // If the anchor is removed while its tip is open, no pointerleave event follows.
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
      const wait = performance.now() - closedAt < SKIP_DELAY_MS ? 0 : OPEN_DELAY_MS
      startTimer(wait, () => {
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
    // Only for keyboard focus, not when the page moves the focus.
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
