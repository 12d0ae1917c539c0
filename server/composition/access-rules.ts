// Groups, quotas and server settings: read at the start, and updated where several instances share a store.
import { type Access, createAccess } from '../access/access.ts'
import { loadServerSettings, type ServerSettingsService } from '../access/server-settings.ts'
import type { Config } from '../config/schema.ts'
import type { Store } from '../db/store.ts'
import type { App } from '../http/app.ts'
import type { Instance } from './instance.ts'
import { defaultQuota } from './settings.ts'

/** How long a change on another instance may take to apply here if its message gets lost. */
const REFRESH_MS = 5_000

/** Reads groups, quotas and server settings from the store. */
export async function loadRules(
  config: Config,
  store: Store,
): Promise<{ access: Access; settings: ServerSettingsService }> {
  const access = createAccess(store, defaultQuota(config))
  const { registration, sharing, default_model = null, approval } = config
  const configured = { registration, sharing, default_model, default_approval: approval.default }
  const [settings] = await Promise.all([
    loadServerSettings(store.settings, configured),
    access.reload(),
  ])
  return { access, settings }
}

/**
 * Reads them again if other instances may change them: when one says so, and at intervals. @returns a function that ends it.
 */
export function refreshRules({
  instance,
  access,
  settings,
  mcpServers,
  loweredRisks,
  webhooks,
  push,
  isShared,
  log,
}: {
  instance: Pick<Instance, 'onRules'>
  access: Pick<Access, 'reload'>
  /** Caches which users have some, as `push` does. */
  webhooks: { reload(): Promise<void> }
  push: { reload(): Promise<void> }
  settings: Pick<ServerSettingsService, 'reload'>
  mcpServers: { reload(): Promise<void> }
  loweredRisks: { reload(): Promise<void> }
  /** Whether other instances use the store. */
  isShared: boolean
  log: { warn(details: object, message: string): void }
}): () => void {
  if (!isShared) return () => {}
  const reread = (): void => {
    const stored = [access, settings, mcpServers, loweredRisks, webhooks, push]
    Promise.all(stored.map((rules) => rules.reload())).catch((error: unknown) =>
      log.warn(
        { err: error },
        'groups, quotas, settings, MCP servers, webhooks and push subscriptions could not be read again',
      ),
    )
  }
  instance.onRules(reread)
  const timer = setInterval(reread, REFRESH_MS).unref()
  return () => clearInterval(timer)
}

const ADMINISTRATION = /^\/api\/admin\//

/**
 * Tells the other instances of each successful change by an administrator, whatever it changed: before the response, so that
 * what the administrator does next rarely arrives earlier there.
 */
export function announceChanges(app: App, instance: Pick<Instance, 'announceRules'>): void {
  app.addHook('onSend', async ({ method, url }, { statusCode }) => {
    if (method !== 'GET' && statusCode < 400 && ADMINISTRATION.test(url)) instance.announceRules()
  })
}
