// Without a connection: copies of what was loaded before, to be read meanwhile.
import { firstScreen } from '../browser/first-screen.tsx'
import { knownAccount, useSession } from '../http/session.ts'
import { useOffline } from './connection.ts'

/** What is needed to read conversations. Nothing else of the server is kept. */
const KEPT =
  /^\/api\/(auth\/(mode|profile)|models|preferences|tags|projects|conversations(\/[\w-]+(\/messages)?)?)(\?|$)/

/**
 * Whether this page opens without a connection, and so whether copies are of use. Browsers have service workers in secure
 * contexts only: over plain HTTP from another machine there are none, and nothing is kept.
 */
export const opensOffline = (): boolean =>
  'serviceWorker' in navigator && navigator.serviceWorker?.controller != null

/** Responses of a page that has no service worker yet, as on its first visit: kept once it has one. */
const early = new Map<string, unknown>()
const MAX_EARLY = 100

/** Whose copies they are: nobody else's are read. Empty in single-user mode. */
const owner = (): string => useSession.getState().userId ?? knownAccount() ?? ''

/** Keeps a response, if it is of a kind that is kept. */
export function keepCopy(path: string, data: unknown): void {
  if (!KEPT.test(path) || !('serviceWorker' in navigator)) return
  if (!opensOffline()) {
    if (early.size < MAX_EARLY || early.has(path)) early.set(path, data)
    return
  }
  const by = owner()
  void firstScreen
    .then(() => import('./copies.ts'))
    .then(({ keep }) => keep(by, path, data))
    .catch(() => undefined) // storage blocked or full: this view needs a connection
}

/** @returns null when there is no copy of the response */
export async function readCopy(path: string): Promise<{ data: unknown } | null> {
  if (!KEPT.test(path) || !opensOffline()) return null
  try {
    const { read } = await import('./copies.ts')
    const copy = await read(owner(), path)
    if (copy !== null && path.includes('/messages')) useOffline.setState({ copiedAt: copy.at })
    return copy
  } catch {
    return null // storage blocked, or this part of the page was never loaded
  }
}

if ('serviceWorker' in navigator)
  navigator.serviceWorker?.addEventListener('controllerchange', () => {
    for (const [path, data] of early) keepCopy(path, data)
    early.clear()
  })

// Nothing of a user stays in this browser after signing out.
useSession.subscribe(({ state }, before) => {
  if (state !== 'out' || before.state === 'out') return
  early.clear()
  if ('serviceWorker' in navigator)
    void import('./copies.ts').then(({ removeAll }) => removeAll()).catch(() => undefined)
})
