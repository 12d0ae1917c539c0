// Reads again what this instance remembers of the store (groups, quotas, settings) when another instance may have changed it.

/** How long a change on another instance may take to apply here if its message gets lost. */
const REFRESH_MS = 5_000

/**
 * Reads what this instance remembers of the store again if other instances may change it: when one says so, and at intervals.
 * @returns a function that ends it.
 */
export function refreshRules({
  instance,
  remembered,
  isShared,
  log,
}: {
  /** `onRules` calls back when another instance has changed something. */
  instance: { onRules(reread: () => void): void }
  remembered: readonly { reload(): Promise<void> }[]
  /** Whether other instances use the store. */
  isShared: boolean
  log: { warn(details: object, message: string): void }
}): () => void {
  if (!isShared) return () => {}
  const reread = (): void => {
    Promise.all(remembered.map((one) => one.reload())).catch((error: unknown) =>
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
