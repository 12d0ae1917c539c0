// Keeps the chosen tab in view where the tabs are one strip that scrolls, as on phones.
import { type RefObject, useEffect } from 'react'

/** Scrolls `strip` to the element that `selector` finds in it, at first and whenever `selector` changes. */
export function useCurrentInView(strip: RefObject<HTMLElement | null>, selector: string): void {
  useEffect(() => {
    strip.current?.querySelector(selector)?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [strip, selector])
}
