// Slows down password guessing without locking out the owner of an account.
import { appError } from '../errors.ts'
import type { Attempt, AttemptCounts } from '../lib/limits.ts'

/** Counts failed sign-ins within a window, by source and by account; see `AttemptCounts`. */
export interface LoginGuard {
  /**
   * Compares a password. If the comparison rejects (server busy, no database), the attempt does not count.
   * @param source where the attempt comes from: a network, or a known browser.
   * @throws AppError 429 with `Retry-After` if this source has to wait.
   */
  compare<T extends { matches: boolean }>(
    source: string,
    account: string,
    comparison: () => Promise<T>,
  ): Promise<T>
}

/** Identifies accounts regardless of case. */
export function createLoginGuard(attempts: AttemptCounts): LoginGuard {
  async function begin(source: string, account: string): Promise<Attempt> {
    const attempt = await attempts.begin(source, account.toLowerCase())
    if ('retryAfterSeconds' in attempt)
      throw appError('sign_ins_exhausted', {}, { retryAfter: attempt.retryAfterSeconds })
    return attempt
  }
  return {
    async compare(source, account, comparison) {
      const attempt = await begin(source, account)
      try {
        const outcome = await comparison()
        if (outcome.matches) attempt.succeeded()
        else attempt.failed()
        return outcome
      } finally {
        // Has no effect after an outcome.
        attempt.withdraw()
      }
    },
  }
}
