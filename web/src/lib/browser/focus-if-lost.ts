// Gives the focus to an element when what had it has disappeared.

/** Does nothing while any element has the focus. Without this, the next Tab would start at the top of the page. */
export function focusIfLost(element: HTMLElement | null, options?: FocusOptions): void {
  if (document.activeElement === document.body) element?.focus(options)
}
