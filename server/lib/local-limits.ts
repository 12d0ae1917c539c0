// Limits that one process counts alone.
import { createAttemptCounts } from './attempt-counts.ts'
import type { Limits } from './limits.ts'
import { createRateLimit } from './rate-limit.ts'

/** Counts start empty with the process. */
export const createLocalLimits = (): Limits => ({
  rateLimit: (_name, options) => createRateLimit(options),
  attempts: createAttemptCounts(),
})
