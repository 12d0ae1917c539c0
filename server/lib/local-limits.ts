// Limits that a single process counts.
import { createAttemptCounts } from './attempt-counts.ts'
import type { Limits, SharedAmounts, Slots } from './limits.ts'
import { createRateLimit } from './rate-limit.ts'

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
    async take(key) {
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
