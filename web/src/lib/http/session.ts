// Who is signed in here (multi-user mode only). The access token is in memory; a cookie that scripts cannot read renews it.

import type { z } from 'zod'
import { create } from 'zustand'
import type { SignedIn } from '../../../../server/protocol/accounts/user.ts'

/** The id of who is signed in, so that a visitor who is not causes no refused request. */
const HINT_KEY = 'nanoclaw.signed-in'
/** What a single sign-on adds to the address of the page that it returns to. */
const RETURNED = '#signed-in'
/** Where earlier versions stored a token. */
const FORMER_KEY = 'nanoclaw.token'
/** A token that is valid for less than this is renewed before it is used. */
const RENEW_BEFORE_MS = 60_000

type Account = z.output<typeof SignedIn>

type Session = {
  /** `unknown`: the cookie, if there is one, has not been tried yet. */
  state: 'unknown' | 'in' | 'out'
  token: string | null
  userId: string | null
  /** When the token should be renewed, by the browser's clock. */
  renewAt: number
  signIn(account: Account): void
  /** Only forgets the session here; ending it on the server is a request. */
  signOut(): void
}

function readHint(): boolean {
  if (location.hash === RETURNED) {
    history.replaceState(history.state, '', location.pathname + location.search)
    return true
  }
  try {
    localStorage.removeItem(FORMER_KEY)
    return localStorage.getItem(HINT_KEY) !== null
  } catch {
    return true // storage blocked: the cookie has to be tried
  }
}

/** The account that was signed in here last and has not signed out, by its id. */
export const knownAccount = (): string | null => {
  try {
    return localStorage.getItem(HINT_KEY)
  } catch {
    return null // storage blocked
  }
}

function writeHint(account: string | null): void {
  try {
    if (account !== null) localStorage.setItem(HINT_KEY, account)
    else localStorage.removeItem(HINT_KEY)
  } catch {
    // storage blocked: the cookie is tried at every start
  }
}

export const useSession = create<Session>((set, get) => ({
  state: readHint() ? 'unknown' : 'out',
  token: null,
  userId: null,
  renewAt: 0,
  signIn: ({ token, expires_in: seconds, user }) => {
    const { userId } = get()
    writeHint(user.id)
    // Another tab signed in as somebody else: nothing of the former user may stay on the screen.
    if (userId !== null && userId !== user.id) location.reload()
    const renewAt = Date.now() + Math.max(seconds * 500, seconds * 1000 - RENEW_BEFORE_MS)
    set({ state: 'in', token, userId: user.id, renewAt })
  },
  signOut: () => {
    writeHint(null)
    set({ state: 'out', token: null, userId: null })
  },
}))

// Signing out in one tab signs out the others, and signing in signs them in.
window.addEventListener('storage', ({ key, newValue }) => {
  if (key !== HINT_KEY) return
  const { state, signOut } = useSession.getState()
  if (newValue === null && state === 'in') signOut()
  if (newValue !== null && state === 'out') useSession.setState({ state: 'unknown' })
})
