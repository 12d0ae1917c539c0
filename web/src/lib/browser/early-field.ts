// The message field of index.html, in which people can write until the composer takes over (web/early-field.js).
import { firstScreen } from './first-screen.tsx'

/**
 * The field and its surrounding box. It outlives the first screen while an input method composes in it, and once the user
 * has pressed the send key, until the composer takes over.
 */
export type EarlyField = { box: HTMLElement; field: HTMLTextAreaElement }

/** Finds the field if it writes the draft `draftKey`. Null on other screens, and after the composer has taken over. */
export function findEarlyField(draftKey: string): EarlyField | null {
  const box = document.getElementById('early')
  const field = document.getElementById('early-message')
  return box?.dataset.draft === draftKey && field instanceof HTMLTextAreaElement
    ? { box, field }
    : null
}

/** Removes the field if the first screen has no composer; its text stays as a draft. Call it once. */
export function dropUnclaimedField(): void {
  void firstScreen.then(() => {
    const box = document.getElementById('early')
    if (box?.dataset.claimed === undefined) box?.remove()
  })
}
