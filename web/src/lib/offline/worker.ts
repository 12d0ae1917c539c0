// Registers the service worker, which lets the page open without a connection and shows push notifications.

import { navigate } from 'wouter/use-browser-location'
import { fromHost } from '../base-path.ts'
import { followPush } from '../browser/push.ts'
import { loadPageTexts } from '../i18n/i18n.ts'
import { fieldsOf, textIn } from '../read-json.ts'

/** The paths of the files that the page has loaded, also before the worker started. */
const loadedPaths = (): string[] =>
  performance
    .getEntriesByType('resource')
    .map(({ name }) => new URL(name))
    .filter(({ origin }) => origin === location.origin)
    .map(({ pathname }) => pathname)

/** Registers the worker and starts push notifications. Does nothing in insecure contexts, which have no service workers. */
export async function startWorker(): Promise<void> {
  if (!isSecureContext || !('serviceWorker' in navigator)) return
  try {
    // Never from the HTTP cache, so that a new build is noticed.
    await navigator.serviceWorker.register(fromHost('/service-worker.js'), {
      updateViaCache: 'none',
    })
  } catch {
    return // disabled by the user or the browser: the page keeps needing a connection
  }
  navigator.serviceWorker.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    const path = textIn(fieldsOf(data).open)
    if (path !== undefined) navigate(fromHost(path))
  })
  const { serviceWorker } = navigator
  const sendLoadedPaths = ({ active }: ServiceWorkerRegistration): void =>
    (serviceWorker.controller ?? active)?.postMessage({ loaded: loadedPaths() })
  // The worker of another build has another cache, so it also needs the files that this page has loaded.
  serviceWorker.addEventListener(
    'controllerchange',
    () => void serviceWorker.ready.then(sendLoadedPaths),
  )
  const registration = await serviceWorker.ready
  followPush()
  // The worker does not know the user's language; it caches the texts that the page has loaded.
  await loadPageTexts().catch(() => undefined) // the first view that needs them tries again
  sendLoadedPaths(registration)
}
