// Waits for what a server or a page does in its own time.
import { vi } from 'vitest'

/**
 * Repeats `check` until it does not throw, and returns its result. The limit is for a test that hangs: no test depends on
 * how fast the machine is, so nothing passes a shorter one. (`vi.waitFor` alone gives up after a second.)
 */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 120_000, interval: 30 })
