// Keeps the current tab visible in a strip of tabs that scrolls, as on phones.
import { type RefObject, useEffect } from 'react'

/** Scrolls `strip` to the element that matches `selector`, on mount and whenever `selector` changes. */
export function useCurrentInView(strip: RefObject<HTMLElement | null>, selector: string): void {
  useEffect(() => {
    strip.current?.querySelector(selector)?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [strip, selector])
}
