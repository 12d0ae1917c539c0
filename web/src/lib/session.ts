// The sign-in token of this browser, kept in local storage (multi-user mode only).
import { create } from 'zustand'

const storageKey = 'nanoclaw.token'

const readStored = (): string | null => {
  try {
    return localStorage.getItem(storageKey)
  } catch {
    return null // storage blocked: signed in for this page only
  }
}

type Session = { token: string | null; signIn(token: string): void; signOut(): void }

/** The token that every request carries. `signOut` only forgets it here; ending it on the server is a request. */
export const useSession = create<Session>((set) => ({
  token: readStored(),
  signIn: (token) => {
    try {
      localStorage.setItem(storageKey, token)
    } catch {
      // kept in memory alone
    }
    set({ token })
  },
  signOut: () => {
    try {
      localStorage.removeItem(storageKey)
    } catch {
      // nothing was kept
    }
    set({ token: null })
  },
}))
