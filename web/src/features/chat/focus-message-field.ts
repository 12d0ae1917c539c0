// Moves the focus to the message field.

/** Does nothing on touch screens, where it would open the keyboard. */
export function focusMessageField(): void {
  if (matchMedia('(pointer: fine)').matches) document.getElementById('composer')?.focus()
}
