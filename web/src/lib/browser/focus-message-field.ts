// Moves the focus to the message field.
import { focusIfLost } from './focus-if-lost.ts'

/**
 * On touch screens, where the on-screen keyboard would open, and in views without a message field, focuses the view, unless
 * something else has the focus: a screen reader would start at the top of the page.
 * @param leaving what is about to disappear, with the focus if that is within it.
 */
export function focusMessageField(leaving: Element | null = null): void {
  const field = document.getElementById('composer')
  const view = document.getElementById('main')
  if (field !== null && matchMedia('(pointer: fine)').matches) field.focus()
  else if (leaving?.contains(document.activeElement) === true) view?.focus({ preventScroll: true })
  else focusIfLost(view, { preventScroll: true })
}
