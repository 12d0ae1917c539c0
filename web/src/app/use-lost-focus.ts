// Keeps the keyboard focus when the sidebar or the view that had it disappears.
import { useEffect, useRef } from 'react'
import { focusIfLost } from '../lib/browser/focus-if-lost.ts'

/** Focuses the button that shows or hides the sidebar if nothing has the focus. */
export const focusSidebarButton = (): void =>
  focusIfLost(document.querySelector<HTMLElement>('[data-sidebar-button]'))

/** When the sidebar hides or shows and the focused button disappears with that, focuses the button for the way back. */
export function useSidebarFocus(sidebarShown: boolean): void {
  const before = useRef(sidebarShown)
  useEffect(() => {
    if (sidebarShown === before.current) return
    before.current = sidebarShown
    focusSidebarButton()
  }, [sidebarShown])
}

/** When a view is left by a link or button within it, which disappears, focuses the next view. */
export function usePageFocus(location: string): void {
  const before = useRef(location)
  useEffect(() => {
    if (location === before.current) return
    before.current = location
    const main = document.getElementById('main')
    const focused = document.activeElement
    focusIfLost(main)
    if (main === null || focused === null || !main.contains(focused)) return
    // The view stays until the code of the next one has loaded.
    const observer = new MutationObserver(() => {
      if (document.activeElement === focused) return
      observer.disconnect()
      // A field that the next view has taken over from the last one is still there: the user has left it.
      if (!focused.isConnected) focusIfLost(main)
    })
    observer.observe(main, { childList: true, subtree: true })
    return () => observer.disconnect()
  }, [location])
}
