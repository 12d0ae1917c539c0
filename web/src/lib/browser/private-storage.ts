// What this browser stores of a user's own words: removed when the user signs out.
const PREFIX = 'nanoclaw.private.'

/** The key in local storage. */
export const privateKey = (name: string): string => PREFIX + name

/** Removes everything whose key has the prefix of private entries. Never throws. */
export function clearPrivateStorage(): void {
  try {
    for (const key of Object.keys(localStorage))
      if (key.startsWith(PREFIX)) localStorage.removeItem(key)
  } catch {
    // storage blocked: nothing was stored
  }
}
