// Local storage for texts of the user, such as drafts: cleared on sign-out.
const PREFIX = 'nanoclaw.private.'

/** The local storage key for a private entry. */
export const privateKey = (name: string): string => PREFIX + name

/** Removes all private entries. Never throws. */
export function clearPrivateStorage(): void {
  try {
    for (const key of Object.keys(localStorage))
      if (key.startsWith(PREFIX)) localStorage.removeItem(key)
  } catch {
    // storage blocked: nothing was stored
  }
}
