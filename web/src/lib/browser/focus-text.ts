// Continues in a text field when the control that was used disappears.

/** Gives the focus to the text field or editor within `place`. Not on a touch screen: its keyboard would open. */
export function focusText(place: Element | null): void {
  if (matchMedia('(pointer: fine)').matches)
    place?.querySelector<HTMLElement>('textarea, [contenteditable="true"]')?.focus()
}
