// Slows down password guessing without locking out the owner of an account.
import { appError } from '../errors.ts'
import type { Attempt, AttemptCounts } from '../lib/limits.ts'
import { networkOf } from './network.ts'

/** Counts failed sign-ins within a window, by address and by account; see `AttemptCounts`. */
export interface LoginGuard {
  /**
   * Compares a password. If the comparison rejects (server busy, no database), the attempt does not count.
   * @throws AppError 429 with `Retry-After` if this address has to wait.
   */
  compare<T extends { matches: boolean }>(
    address: string,
    account: string,
    comparison: () => Promise<T>,
  ): Promise<T>
}

/** Identifies accounts regardless of case, and sources by their network. */
export function createLoginGuard(attempts: AttemptCounts): LoginGuard {
  async function begin(address: string, account: string): Promise<Attempt> {
    const attempt = await attempts.begin(networkOf(address), account.toLowerCase())
    if ('retryAfterSeconds' in attempt)
      throw appError('sign_ins_exhausted', {}, { retryAfter: attempt.retryAfterSeconds })
    return attempt
  }
  return {
    async compare(address, account, comparison) {
      const attempt = await begin(address, account)
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
