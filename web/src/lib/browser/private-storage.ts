// The browser's storage for texts of the user, such as drafts: cleared on sign-out, and for the next account.
import { storageName } from '../base-path.ts'

const PREFIX = storageName('private.')
/** Holds the id of the account that the private entries belong to. */
const OWNER_KEY = `${PREFIX}owner`

/** The storage key for a private entry. */
export const privateKey = (name: string): string => PREFIX + name

/** Does nothing if storage is blocked: then nothing was stored. */
function onEachStorage(act: (storage: Storage) => void): void {
  try {
    for (const storage of [localStorage, sessionStorage]) act(storage)
  } catch {
    // storage blocked
  }
}

function clear(storage: Storage): void {
  for (const key of Object.keys(storage)) if (key.startsWith(PREFIX)) storage.removeItem(key)
}

/** Removes all private entries. Never throws. */
export function clearPrivateStorage(): void {
  onEachStorage(clear)
}

/**
 * Removes the private entries of other accounts, whose session may have ended without a sign-out. Later entries belong to
 * `account`. @returns whether another account had any. Never throws.
 */
export function claimPrivateStorage(account: string): boolean {
  let wasOthers = false
  onEachStorage((storage) => {
    const owner = storage.getItem(OWNER_KEY)
    if (owner === account) return
    if (owner !== null) {
      clear(storage)
      wasOthers = true
    }
    storage.setItem(OWNER_KEY, account)
  })
  return wasOthers
}
