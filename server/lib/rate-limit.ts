// A limit per key within a window of time.
import { LRUCache } from 'lru-cache'

export interface RateLimit {
  /** Takes `weight` from the key's allowance. Returns null, or the seconds after which there is enough again. */
  take(key: string, weight?: number): number | null
}

export interface RateLimitOptions {
  /** Total weight within one window. */
  limit: number
  windowMs: number
  /** Milliseconds of a monotonic clock. */
  now?: () => number
}

/** Most keys in memory; the oldest are forgotten first. */
const MAX_KEYS = 50_000

/** Fixed windows that start with the first use, in memory: a restart forgets them. */
export function createRateLimit({
  limit,
  windowMs,
  now = () => performance.now(),
}: RateLimitOptions): RateLimit {
  const windows = new LRUCache<string, { used: number; until: number }>({ max: MAX_KEYS })
  return {
    take(key, weight = 1) {
      const known = windows.get(key)
      const window =
        known !== undefined && known.until > now() ? known : { used: 0, until: now() + windowMs }
      if (window.used + weight > limit) return Math.max(1, Math.ceil((window.until - now()) / 1000))
      window.used += weight
      windows.set(key, window)
      return null
    },
  }
}
