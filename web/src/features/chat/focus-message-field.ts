// Moves the focus to the message field.
import { focusIfLost } from '../../lib/browser/focus-if-lost.ts'

/**
 * On touch screens, where the on-screen keyboard would open, only focuses the view, and only if nothing has the focus: a
 * screen reader would start at the top of the page.
 */
export function focusMessageField(): void {
  if (matchMedia('(pointer: fine)').matches) document.getElementById('composer')?.focus()
  else focusIfLost(document.getElementById('main'), { preventScroll: true })
}
