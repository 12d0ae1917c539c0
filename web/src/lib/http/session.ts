// The session of this page (multi-user mode only). The access token is in memory; an HttpOnly cookie renews it.

import type { z } from 'zod'
import { create } from 'zustand'
import type { SignedIn } from '../../../../server/protocol/accounts/user.ts'
import { storageName } from '../base-path.ts'
import { claimPrivateStorage } from '../browser/private-storage.ts'
import { forgetUnsavedTexts } from '../browser/unsaved-texts.ts'

/** Holds the id of the signed-in account, so that a visitor without one sends no request that is refused. */
const HINT_KEY = storageName('signed-in')
/** The fragment that single sign-on adds to the page's URL. */
const SINGLE_SIGN_ON_HASH = '#signed-in'
/** The key under which earlier versions stored a token. */
const FORMER_TOKEN_KEY = storageName('token')
/** A token with less remaining validity is renewed before use. */
const RENEW_BEFORE_MS = 60_000

type Account = z.output<typeof SignedIn>

type Session = {
  /** `unknown` until the cookie has been tried. */
  state: 'unknown' | 'in' | 'out'
  token: string | null
  userId: string | null
  /** When to renew the token: milliseconds of the browser's clock. */
  renewAt: number
  /** Why the session has ended, if the user has not ended it: the reason of the server's refusal. */
  ended: string | null
  signIn(account: Account): void
  /** Forgets the session in this page only; `useSignOut` also ends it on the server. */
  signOut(ended?: string): void
}

function readHint(): boolean {
  if (location.hash === SINGLE_SIGN_ON_HASH) {
    history.replaceState(history.state, '', location.pathname + location.search)
    return true
  }
  try {
    localStorage.removeItem(FORMER_TOKEN_KEY)
    return localStorage.getItem(HINT_KEY) !== null
  } catch {
    return true // storage is blocked: only the cookie can say
  }
}

/** The id of the account that signed in here last and has not signed out. */
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

/** The id of the account that this page has shown last, also after its session has ended. */
let shownAccount: string | null = null

/** The session of this page. */
export const useSession = create<Session>((set) => ({
  state: readHint() ? 'unknown' : 'out',
  token: null,
  userId: null,
  renewAt: 0,
  ended: null,
  signIn: ({ token, expires_in: seconds, user }) => {
    writeHint(user.id)
    const wasOthers = shownAccount !== null && shownAccount !== user.id
    // Nothing of another account may stay in the storage or the memory of this page.
    if (claimPrivateStorage(user.id) || wasOthers) {
      forgetUnsavedTexts()
      location.reload()
    }
    // Not before half of a short life.
    const renewAt = Date.now() + Math.max(seconds * 500, seconds * 1000 - RENEW_BEFORE_MS)
    set({ state: 'in', token, userId: user.id, renewAt, ended: null })
  },
  signOut: (ended) => {
    writeHint(null)
    set({ state: 'out', token: null, userId: null, ended: ended ?? null })
  },
}))

useSession.subscribe(({ userId }) => {
  if (userId !== null) shownAccount = userId
})

// A sign-out in one tab signs out the others; a sign-in makes them try the cookie.
window.addEventListener('storage', ({ key, newValue }) => {
  if (key !== HINT_KEY) return
  const { state, signOut } = useSession.getState()
  if (newValue === null && state === 'in') signOut()
  if (newValue !== null && state === 'out') useSession.setState({ state: 'unknown' })
})
