// Returns the focus when a dialog closes: to the element that had it when the dialog opened.
import { useState } from 'react'

/** The focused element. If it is in a menu, which closes before the dialog does, the button that opened the menu. */
function focusedNow(): HTMLElement | null {
  const focused = document.activeElement
  const opener = focused?.closest('[role="menu"]')?.getAttribute('aria-labelledby')
  const target = opener == null ? focused : document.getElementById(opener)
  return target instanceof HTMLElement ? target : null
}

/**
 * Returns the `onCloseAutoFocus` handler of a dialog without its own trigger. It does not move the focus if the action that
 * closed the dialog has set it.
 */
export function useReturnedFocus(open: boolean): (event: Event) => void {
  const [wasOpen, setWasOpen] = useState(false)
  const [opener, setOpener] = useState<HTMLElement | null>(null)
  // During render, because a field with `autoFocus` takes the focus before any effect runs.
  if (open !== wasOpen) {
    setWasOpen(open)
    if (open) setOpener(focusedNow())
  }
  return (event) => {
    event.preventDefault()
    const focused = document.activeElement
    if (focused === null || focused === document.body) opener?.focus()
  }
}
