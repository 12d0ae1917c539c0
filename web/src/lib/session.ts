// The sign-in token of this browser, in local storage (multi-user mode only).
import { create } from 'zustand'

const STORAGE_KEY = 'nanoclaw.token'

const readStored = (): string | null => {
  try {
    return localStorage.getItem(STORAGE_KEY)
  } catch {
    return null // storage blocked: signed in until the page closes
  }
}

type Session = { token: string | null; signIn(token: string): void; signOut(): void }

/** The token that every request carries. `signOut` only removes it here; ending the session on the server is a request. */
export const useSession = create<Session>((set) => ({
  token: readStored(),
  signIn: (token) => {
    try {
      localStorage.setItem(STORAGE_KEY, token)
    } catch {
      // storage blocked: kept in memory only
    }
    set({ token })
  },
  signOut: () => {
    try {
      localStorage.removeItem(STORAGE_KEY)
    } catch {
      // storage blocked: nothing to remove
    }
    set({ token: null })
  },
}))
