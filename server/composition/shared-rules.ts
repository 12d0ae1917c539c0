// Keeps groups and quotas up to date where several instances share a store.
import type { Access } from '../access/access.ts'

/** How long a change on another instance may take to apply here. */
const REFRESH_MS = 5_000

/** @returns what ends it. */
export function refreshRules({
  access,
  log,
}: {
  access: Pick<Access, 'reload'>
  log: { warn(details: object, message: string): void }
}): () => void {
  const timer = setInterval(() => {
    access
      .reload()
      .catch((error: unknown) =>
        log.warn({ err: error }, 'groups and quotas could not be read again'),
      )
  }, REFRESH_MS).unref()
  return () => clearInterval(timer)
}
