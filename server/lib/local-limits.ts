// Limits that a single process counts.
import { LRUCache } from 'lru-cache'
import {
  ATTEMPT_LIMIT,
  type AttemptCounts,
  type Limits,
  type RateLimit,
  type RateLimitOptions,
  type SharedAmounts,
  type Slots,
} from './limits.ts'
import { atMost } from './lru-limit.ts'

// A rate limit per key with fixed time windows, counted in this process.

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
    async acquire(key, weight = 1, allowance = limit) {
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

// Counts attempts and failures in this process.

/** Maximum number of entries in memory; the oldest are dropped first. */
const MAX_ENTRIES = 50_000

/** `undecided`: attempts in `count` that have no outcome yet. */
type Failures = { count: number; undecided: number; until: number }

/** @param now milliseconds of a monotonic clock. */
export function createAttemptCounts(now: () => number = () => performance.now()): AttemptCounts {
  const failures = new LRUCache<string, Failures>(atMost(MAX_ENTRIES))

  const current = (key: string): Failures => {
    const found = failures.get(key)
    if (found !== undefined && found.until > now()) return found
    const fresh = { count: 0, undecided: 0, until: now() + ATTEMPT_LIMIT.windowMs }
    failures.set(key, fresh)
    return fresh
  }
  const refusal = ({ count, undecided, until }: Failures) => {
    // Attempts in progress may still succeed and free slots.
    const isWaiting = count - undecided < ATTEMPT_LIMIT.failures
    return { retryAfterSeconds: isWaiting ? 1 : Math.ceil((until - now()) / 1000) }
  }

  return {
    async begin(source, target) {
      const ofSource = current(`s ${source}`)
      const ofTarget = current(`t ${target}`)
      const ofBoth = current(`b ${source} ${target}`)
      if (ofSource.count >= ATTEMPT_LIMIT.failures) return refusal(ofSource)
      if (ofTarget.count >= ATTEMPT_LIMIT.failures && ofBoth.count > 0) return refusal(ofTarget)
      const counted = [ofSource, ofTarget, ofBoth]
      for (const one of counted) {
        one.count += 1
        one.undecided += 1
      }
      let isOpen = true
      const decide = (counts: boolean): void => {
        if (!isOpen) return
        isOpen = false
        for (const one of counted) {
          one.undecided -= 1
          if (!counts) one.count -= 1
        }
      }
      return {
        failed: () => decide(true),
        withdraw: () => decide(false),
        succeeded() {
          decide(false)
          // Other undecided attempts still count.
          for (const one of [ofTarget, ofBoth]) one.count = one.undecided
        },
      }
    },
  }
}

/** A single process has no other instances. */
export const NO_OTHERS: SharedAmounts = { hold: async () => 0 }

/** Counts start at zero with the process. */
export const createLocalLimits = (): Limits => ({
  rateLimit: (_name, options) => createRateLimit(options),
  slots: (_name, limit) => createLocalSlots(limit),
  amounts: () => NO_OTHERS,
  attempts: createAttemptCounts(),
})

/** Slots of work in this process. */
function createLocalSlots(limit: number): Slots {
  const taken = new Map<string, number>()
  return {
    limit,
    async acquire(key) {
      const count = taken.get(key) ?? 0
      if (count >= limit) return null
      taken.set(key, count + 1)
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        const left = (taken.get(key) ?? 1) - 1
        if (left === 0) taken.delete(key)
        else taken.set(key, left)
      }
    },
  }
}
