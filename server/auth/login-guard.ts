// Slows down guessing of passwords without locking anybody out.
import { LRUCache } from 'lru-cache'
import { appError } from '../errors.ts'
import { networkOf } from './network.ts'

/**
 * Counts sign-ins within a window, by address and by account. Each counts as failed from its start, so that a burst
 * gets no more attempts than a sequence. An address with too many failures has to wait. An account with too many
 * failures (from anywhere) still allows each address without a failure there its first attempt, so that nobody can lock
 * its owner out.
 */
export interface LoginGuard {
  /** Begins an attempt. @throws AppError 429 with `Retry-After` when this address has to wait. */
  begin(address: string, account: string): LoginAttempt
}

/** One attempt. It counts as a failure unless one of these is called. */
export interface LoginAttempt {
  /** The password was right: neither this attempt nor earlier failures of the account count any more. */
  succeeded(): void
  /** The password was never compared. */
  withdraw(): void
}

const MAX_FAILURES = 10
const WINDOW_MS = 5 * 60_000
/** Most entries in memory; the oldest are forgotten first. */
const MAX_ENTRIES = 50_000

/** `undecided`: those of `count` without an outcome yet. */
type Failures = { count: number; undecided: number; until: number }

/** `now` returns milliseconds of a monotonic clock. */
export function createLoginGuard(now: () => number = () => performance.now()): LoginGuard {
  const failures = new LRUCache<string, Failures>({ max: MAX_ENTRIES })

  const current = (key: string): Failures => {
    const found = failures.get(key)
    if (found !== undefined && found.until > now()) return found
    const fresh = { count: 0, undecided: 0, until: now() + WINDOW_MS }
    failures.set(key, fresh)
    return fresh
  }
  const refuse = ({ count, undecided, until }: Failures): never => {
    // Attempts in progress may succeed, which frees places in a moment.
    const isWaiting = count - undecided < MAX_FAILURES
    throw appError(
      'sign_ins_exhausted',
      {},
      { retryAfter: isWaiting ? 1 : Math.ceil((until - now()) / 1000) },
    )
  }

  return {
    begin(address, account) {
      const place = networkOf(address)
      const name = account.toLowerCase()
      const ofAddress = current(`a ${place}`)
      const ofAccount = current(`n ${name}`)
      const ofBoth = current(`b ${place} ${name}`)
      if (ofAddress.count >= MAX_FAILURES) refuse(ofAddress)
      if (ofAccount.count >= MAX_FAILURES && ofBoth.count > 0) refuse(ofAccount)
      const counted = [ofAddress, ofAccount, ofBoth]
      for (const one of counted) {
        one.count += 1
        one.undecided += 1
      }
      let open = true
      const giveBack = (): void => {
        if (!open) return
        open = false
        for (const one of counted) {
          one.count -= 1
          one.undecided -= 1
        }
      }
      return {
        withdraw: giveBack,
        succeeded() {
          giveBack()
          // The other undecided attempts stay counted.
          for (const one of [ofAccount, ofBoth]) one.count = one.undecided
        },
      }
    },
  }
}
