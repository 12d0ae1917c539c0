// At most so much within a window of time, for each key.
import { LRUCache } from 'lru-cache'

export interface RateLimit {
  /** Takes `weight` out of the key's allowance. Returns null, or the seconds after which there is enough again. */
  take(key: string, weight?: number): number | null
}

export interface RateLimitOptions {
  /** Total weight within one window. */
  limit: number
  windowMs: number
  /** Milliseconds of a clock that never goes back. */
  now?: () => number
}

/** Keys kept at most; the oldest are forgotten first. */
const MAX_KEYS = 50_000

/** Fixed windows that begin with the first use, kept in memory: a restart forgets them. */
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
