// Waits for a server that is restarting.
import { fromHost } from '../base-path.ts'
import { waitToReconnect } from './reconnect.ts'

/** How long a restart may take before requests fail. */
export const RESTART_LIMIT_MS = 30_000
const LOOK_EVERY_MS = 1_000

/** Whether the server refused the request because it is ending, so that the request has had no effect. */
export async function isRestarting(response: Response): Promise<boolean> {
  if (response.status !== 503) return false
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null)
  return (
    typeof body === 'object' && body !== null && 'reason' in body && body.reason === 'shutting_down'
  )
}

/** Waits until the server accepts requests again. Resolves with false if it does not until then, by `performance.now()`. */
export async function isBack(
  until: number,
  signal: AbortSignal | null | undefined,
): Promise<boolean> {
  while (performance.now() < until) {
    await waitToReconnect(LOOK_EVERY_MS)
    signal?.throwIfAborted()
    const isReady = await fetch(fromHost('/readyz'), { cache: 'no-store' }).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) return true
  }
  return false
}
