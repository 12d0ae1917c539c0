// Keeps groups, quotas and server settings up to date where several instances share a store.
import type { Access } from '../access/access.ts'
import type { ServerSettingsService } from '../access/server-settings.ts'

/** How long a change on another instance may take to apply here. */
const REFRESH_MS = 5_000

/** @returns what ends it. */
export function refreshRules({
  access,
  settings,
  log,
}: {
  access: Pick<Access, 'reload'>
  settings: Pick<ServerSettingsService, 'reload'>
  log: { warn(details: object, message: string): void }
}): () => void {
  const timer = setInterval(() => {
    Promise.all([access.reload(), settings.reload()]).catch((error: unknown) =>
      log.warn({ err: error }, 'groups, quotas and settings could not be read again'),
    )
  }, REFRESH_MS).unref()
  return () => clearInterval(timer)
}
