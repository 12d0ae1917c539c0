// Waits for a server or a page to reach a state.
import { vi } from 'vitest'

/**
 * Repeats `check` until it does not throw, and returns its result. The limit is for a test that hangs: no test depends on
 * how fast the machine is, so do not pass a shorter limit. (`vi.waitFor` alone gives up after a second.)
 */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 120_000, interval: 30 })
