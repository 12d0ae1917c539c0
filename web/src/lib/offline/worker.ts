// Starts the service worker, which lets the page open without a connection and shows push notifications.
import { navigate } from 'wouter/use-browser-location'
import { followPush } from '../browser/push.ts'
import { loadPageTexts } from '../i18n/i18n.ts'
import { fieldsOf, textIn } from '../read-json.ts'

/** What the page loaded before the worker was there. */
const loadedPaths = (): string[] =>
  performance
    .getEntriesByType('resource')
    .map(({ name }) => new URL(name))
    .filter(({ origin }) => origin === location.origin)
    .map(({ pathname }) => pathname)

/** Does nothing where browsers have no service workers: over plain HTTP from another machine. */
export async function startWorker(): Promise<void> {
  if (!isSecureContext || !('serviceWorker' in navigator)) return
  try {
    // The file itself is never taken from a cache, so that a new build is noticed.
    await navigator.serviceWorker.register('/service-worker.js', { updateViaCache: 'none' })
  } catch {
    return // switched off by the person or the browser: the page needs a connection, as before
  }
  navigator.serviceWorker.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    const path = textIn(fieldsOf(data).open)
    if (path !== undefined) navigate(path)
  })
  const { serviceWorker } = navigator
  const tell = ({ active }: ServiceWorkerRegistration): void =>
    (serviceWorker.controller ?? active)?.postMessage({ loaded: loadedPaths() })
  // The worker of another build keeps other files: it has to learn, too, what this page has loaded.
  serviceWorker.addEventListener('controllerchange', () => void serviceWorker.ready.then(tell))
  const registration = await serviceWorker.ready
  followPush()
  // The worker does not know the reader's language: it keeps the texts that the page has loaded.
  await loadPageTexts().catch(() => undefined) // loaded with the first view that needs them
  tell(registration)
}
