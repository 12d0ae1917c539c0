// Slows down password guessing without locking out the owner of an account.
import { LRUCache } from 'lru-cache'
import { appError } from '../errors.ts'
import { atMost } from '../lib/lru-limit.ts'
import { networkOf } from './network.ts'

/**
 * Counts failed sign-ins within a window, by address and by account. An attempt counts as failed from its start, so that
 * parallel attempts gain nothing. An address with too many failures has to wait. For an account with too many failures,
 * each address that has not failed yet still gets one attempt, so that nobody can lock out the owner.
 */
export interface LoginGuard {
  /** Starts an attempt. @throws AppError 429 with `Retry-After` when this address has to wait. */
  begin(address: string, account: string): LoginAttempt
}

/** One attempt. It counts as a failure unless one of these is called. */
export interface LoginAttempt {
  /** The password was correct: clears this attempt and the earlier failures of the account. */
  succeeded(): void
  /** The password was never compared. */
  withdraw(): void
}

const MAX_FAILURES = 10
const WINDOW_MS = 5 * 60_000
/** Maximum number of entries in memory; the oldest are dropped first. */
const MAX_ENTRIES = 50_000

/** `undecided`: attempts in `count` that have no outcome yet. */
type Failures = { count: number; undecided: number; until: number }

/** @param now milliseconds of a monotonic clock. */
export function createLoginGuard(now: () => number = () => performance.now()): LoginGuard {
  const failures = new LRUCache<string, Failures>(atMost(MAX_ENTRIES))

  const current = (key: string): Failures => {
    const found = failures.get(key)
    if (found !== undefined && found.until > now()) return found
    const fresh = { count: 0, undecided: 0, until: now() + WINDOW_MS }
    failures.set(key, fresh)
    return fresh
  }
  const reject = ({ count, undecided, until }: Failures): never => {
    // Attempts in progress may still succeed and free slots.
    const isWaiting = count - undecided < MAX_FAILURES
    throw appError(
      'sign_ins_exhausted',
      {},
      { retryAfter: isWaiting ? 1 : Math.ceil((until - now()) / 1000) },
    )
  }

  return {
    begin(address, account) {
      const addressNetwork = networkOf(address)
      const name = account.toLowerCase()
      const ofAddress = current(`a ${addressNetwork}`)
      const ofAccount = current(`n ${name}`)
      const ofBoth = current(`b ${addressNetwork} ${name}`)
      if (ofAddress.count >= MAX_FAILURES) reject(ofAddress)
      if (ofAccount.count >= MAX_FAILURES && ofBoth.count > 0) reject(ofAccount)
      const counted = [ofAddress, ofAccount, ofBoth]
      for (const one of counted) {
        one.count += 1
        one.undecided += 1
      }
      let open = true
      const uncount = (): void => {
        if (!open) return
        open = false
        for (const one of counted) {
          one.count -= 1
          one.undecided -= 1
        }
      }
      return {
        withdraw: uncount,
        succeeded() {
          uncount()
          // Other undecided attempts still count.
          for (const one of [ofAccount, ofBoth]) one.count = one.undecided
        },
      }
    },
  }
}

/** Runs a comparison. If it throws (server busy, no database), the attempt does not count as failed. */
export async function runAttempt<T>(
  attempt: LoginAttempt,
  comparison: () => Promise<T>,
): Promise<T> {
  try {
    return await comparison()
  } catch (error) {
    attempt.withdraw()
    throw error
  }
}
