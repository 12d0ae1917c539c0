// Stores copies of responses and reads them while there is no connection.
import { firstScreen } from '../browser/first-screen.tsx'
import { knownAccount, useSession } from '../http/session.ts'
import { useOffline } from './connection.ts'

/** The paths that reading conversations needs. Other responses are not copied. */
const COPIED_PATHS =
  /^\/api\/(auth\/(mode|profile)|models|preferences|tags|projects|conversations(\/[\w-]+(\/messages)?)?)(\?|$)/

/**
 * Whether this page can open without a connection. If not, copies are useless: browsers offer service workers only in
 * secure contexts, so over plain HTTP from another machine nothing is copied.
 */
export const opensOffline = (): boolean =>
  'serviceWorker' in navigator && navigator.serviceWorker?.controller != null

/** Responses that arrived before the service worker, as on the first visit. They are copied once it controls the page. */
const earlyResponses = new Map<string, unknown>()
const MAX_EARLY_RESPONSES = 100

/** The id of the user whose copies are stored and read; empty in single-user mode. */
const owner = (): string => useSession.getState().userId ?? knownAccount() ?? ''

/** Stores a copy of a response if its path is one that is copied. Does not wait for the result. */
export function storeCopy(path: string, data: unknown): void {
  if (!COPIED_PATHS.test(path) || !('serviceWorker' in navigator)) return
  if (!opensOffline()) {
    if (earlyResponses.size < MAX_EARLY_RESPONSES || earlyResponses.has(path))
      earlyResponses.set(path, data)
    return
  }
  const user = owner()
  void firstScreen
    .then(() => import('./copies.ts'))
    .then(({ write }) => write(user, path, data))
    .catch(() => undefined) // storage is blocked or full: this view needs a connection
}

/** The copy of an earlier response; null when there is none. Never throws. */
export async function readCopy(path: string): Promise<{ data: unknown } | null> {
  if (!COPIED_PATHS.test(path) || !opensOffline()) return null
  try {
    const { read } = await import('./copies.ts')
    const copy = await read(owner(), path)
    if (copy !== null && path.includes('/messages')) useOffline.setState({ copiedAt: copy.at })
    return copy
  } catch {
    return null // storage is blocked, or this code was never loaded
  }
}

if ('serviceWorker' in navigator)
  navigator.serviceWorker?.addEventListener('controllerchange', () => {
    for (const [path, data] of earlyResponses) storeCopy(path, data)
    earlyResponses.clear()
  })

// Nothing of a user stays in this browser after the sign-out.
useSession.subscribe(({ state }, before) => {
  if (state !== 'out' || before.state === 'out') return
  earlyResponses.clear()
  if ('serviceWorker' in navigator)
    void import('./copies.ts').then(({ removeAll }) => removeAll()).catch(() => undefined)
})
