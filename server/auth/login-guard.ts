// Slows down guessing of passwords without locking anybody out.
import { LRUCache } from 'lru-cache'
import { appError } from '../errors.ts'
import { networkOf } from './network.ts'

/**
 * Counts sign-ins within a window, by address and by account. Each counts as failed from the moment it begins, so that a
 * burst gets no more tries than a sequence. An address that failed too often waits. An account at which too many failed
 * (from anywhere) still gives every address that has not failed there its first try, so that nobody can lock its owner
 * out.
 */
export interface LoginGuard {
  /** Begins an attempt. @throws AppError 429 with `Retry-After` when this address has to wait before it may try. */
  begin(address: string, account: string): LoginAttempt
}

/** One attempt. It stays counted as a failure unless one of these is called. */
export interface LoginAttempt {
  /** The password was right: this attempt counts for nothing, nor do earlier failures at the account. */
  succeeded(): void
  /** The password was never compared. */
  withdraw(): void
}

const MAX_FAILURES = 10
const WINDOW_MS = 5 * 60_000
/** Entries kept at most; the oldest are forgotten first. */
const MAX_ENTRIES = 50_000

/** `undecided`: those of `count` whose outcome is still open. */
type Failures = { count: number; undecided: number; until: number }

/** `now` answers milliseconds of a clock that never goes back. */
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
    // What is still open may turn out well: then there is room in a moment.
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
          // What else is undecided stays counted.
          for (const one of [ofAccount, ofBoth]) one.count = one.undecided
        },
      }
    },
  }
}
