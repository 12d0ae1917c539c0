// Counts attempts and failures in this process.
import { LRUCache } from 'lru-cache'
import { ATTEMPT_LIMIT, type AttemptCounts } from './limits.ts'
import { atMost } from './lru-limit.ts'

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
