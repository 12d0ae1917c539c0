// Moves the focus to the message field.

/** Does nothing on touch screens, where the on-screen keyboard would open. */
export function focusMessageField(): void {
  if (matchMedia('(pointer: fine)').matches) document.getElementById('composer')?.focus()
}
