// Moves the focus to the message field.

/**
 * On touch screens, where the on-screen keyboard would open, only focuses the view, and only if nothing has the focus: a
 * screen reader would start at the top of the page.
 */
export function focusMessageField(): void {
  if (matchMedia('(pointer: fine)').matches) document.getElementById('composer')?.focus()
  else if (document.activeElement === document.body)
    document.getElementById('main')?.focus({ preventScroll: true })
}
