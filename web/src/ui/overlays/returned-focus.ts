// Where the focus goes when a dialog closes: back to what had it when the dialog opened.
import { useState } from 'react'

/** What had the focus; of a menu, which is gone by the time the dialog closes, the button that opened it. */
function focusedNow(): HTMLElement | null {
  const focused = document.activeElement
  const opener = focused?.closest('[role="menu"]')?.getAttribute('aria-labelledby')
  const target = opener == null ? focused : document.getElementById(opener)
  return target instanceof HTMLElement ? target : null
}

/**
 * For `onCloseAutoFocus` of a dialog without a trigger of its own. Leaves the focus alone if whatever closed the dialog
 * has moved it elsewhere.
 */
export function useReturnedFocus(open: boolean): (event: Event) => void {
  const [wasOpen, setWasOpen] = useState(false)
  const [opener, setOpener] = useState<HTMLElement | null>(null)
  // While it is drawn for the first time: a field with `autoFocus` has the focus before any effect runs.
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
