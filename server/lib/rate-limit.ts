// A rate limit per key with fixed time windows.
import { LRUCache } from 'lru-cache'
import { atMost } from './lru-limit.ts'

export interface RateLimit {
  /** Takes `weight` from the key's allowance, which `limit` replaces. Returns null, or the seconds until the next window if it does not fit. */
  take(key: string, weight?: number, limit?: number): number | null
}

export interface RateLimitOptions {
  /** Total weight within one window. */
  limit: number
  windowMs: number
  /** Milliseconds of a monotonic clock. */
  now?: () => number
}

/** Maximum number of keys in memory; the least recently used are evicted. */
const MAX_KEYS = 50_000

/** Windows start with a key's first use and are kept in memory: a restart resets them. */
export function createRateLimit({
  limit,
  windowMs,
  now = () => performance.now(),
}: RateLimitOptions): RateLimit {
  const windows = new LRUCache<string, { used: number; until: number }>(atMost(MAX_KEYS))
  return {
    take(key, weight = 1, allowance = limit) {
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
