// Waits for a server or a page to reach a state.
import { setTimeout as sleep } from 'node:timers/promises'

/** For a test that hangs: no test depends on how fast the machine is. */
const LIMIT_MS = 120_000
const SOONEST_MS = 30
const LATEST_MS = 150
/** How much later than it happens something may be seen, as a share of how long it took. */
const SHARE = 0.1

/**
 * Repeats `check` until it does not throw, and returns its result. (`vi.waitFor` alone gives up after a second.) The longer
 * it takes, the rarer it looks: most checks send requests, which a busy machine answers instead of what is awaited.
 */
export async function eventually<T>(check: () => T | Promise<T>): Promise<Awaited<T>> {
  const begun = performance.now()
  let last: unknown = new Error(`Nothing came of it in ${LIMIT_MS / 1000} s.`)
  const limit = new AbortController()
  // A check that never settles ends, too.
  const isOver = sleep(LIMIT_MS, 'over' as const, { signal: limit.signal }).catch(
    () => 'over' as const,
  )
  try {
    for (;;) {
      try {
        const checked = (async () => ({ result: await check() }))()
        const outcome = await Promise.race([checked, isOver])
        if (outcome === 'over') break
        return outcome.result
      } catch (error) {
        last = error
        const waited = performance.now() - begun
        if (waited > LIMIT_MS) break
        await sleep(Math.min(Math.max(SOONEST_MS, waited * SHARE), LATEST_MS))
      }
    }
  } finally {
    limit.abort()
  }
  throw last
}
