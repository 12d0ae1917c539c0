// A rate limit per key with fixed time windows, counted in this process.
import { LRUCache } from 'lru-cache'
import type { RateLimit, RateLimitOptions } from './limits.ts'
import { atMost } from './lru-limit.ts'

/** Maximum number of keys in memory; the least recently used are evicted. */
const MAX_KEYS = 50_000

/**
 * Windows start with a key's first use and are kept in memory: a restart resets them.
 * @param now milliseconds of a monotonic clock.
 */
export function createRateLimit(
  { limit, windowMs }: RateLimitOptions,
  now: () => number = () => performance.now(),
): RateLimit {
  const windows = new LRUCache<string, { used: number; until: number }>(atMost(MAX_KEYS))
  return {
    async take(key, weight = 1, allowance = limit) {
      const known = windows.get(key)
      const window =
        known !== undefined && known.until > now() ? known : { used: 0, until: now() + windowMs }
      if (window.used + weight > allowance)
        return Math.max(1, Math.ceil((window.until - now()) / 1000))
      window.used += weight
      windows.set(key, window)
      return null
    },
  }
}
