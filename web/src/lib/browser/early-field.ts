// The message field of index.html, in which people write until the composer takes over (public/early-field.js).
import { firstScreen } from './first-screen.tsx'

/** While it composes, and once its message is to be sent, it waits for the composer although the first screen is complete. */
export type EarlyField = { box: HTMLElement; field: HTMLTextAreaElement }

/** Null where another screen was opened, and after it was taken over. `draftKey`: of the draft that it writes. */
export function findEarlyField(draftKey: string): EarlyField | null {
  const box = document.getElementById('early')
  const field = document.getElementById('early-message')
  return box?.dataset.draft === draftKey && field instanceof HTMLTextAreaElement
    ? { box, field }
    : null
}

/** Where the first screen has no composer, the field goes; what was written in it stays as a draft. Call it once. */
export function dropUnclaimedField(): void {
  void firstScreen.then(() => {
    const box = document.getElementById('early')
    if (box?.dataset.claimed === undefined) box?.remove()
  })
}
