// Slows down guessing of passwords without locking anybody out.
import { LRUCache } from 'lru-cache'
import { AppError } from '../errors.ts'

/**
 * Counts failed sign-ins within a window, by address and by account. An address that failed too often waits. An account
 * at which too many failed (from anywhere) still gives every address that has not failed there its first try, so that
 * nobody can lock its owner out.
 */
export interface LoginGuard {
  /** Throws a 429 with `Retry-After` when this address has to wait before it may try this account. */
  assertMayTry(address: string, account: string): void
  failed(address: string, account: string): void
  succeeded(address: string, account: string): void
}

const MAX_FAILURES = 10
const WINDOW_MS = 5 * 60_000
/** Entries kept at most; the oldest are forgotten first. */
const MAX_ENTRIES = 50_000

type Failures = { count: number; until: number }

/** `now` answers milliseconds of a clock that never goes back. */
export function createLoginGuard(now: () => number = () => performance.now()): LoginGuard {
  const failures = new LRUCache<string, Failures>({ max: MAX_ENTRIES })

  const current = (key: string): Failures => {
    const found = failures.get(key)
    return found !== undefined && found.until > now()
      ? found
      : { count: 0, until: now() + WINDOW_MS }
  }
  const add = (key: string): void => {
    const { count, until } = current(key)
    failures.set(key, { count: count + 1, until })
  }
  const keys = (address: string, account: string) => {
    const name = account.toLowerCase()
    return { byAddress: `a ${address}`, byAccount: `n ${name}`, byBoth: `b ${address} ${name}` }
  }
  const refuse = ({ until }: Failures): never => {
    throw new AppError(
      'too_many_requests',
      'Too many failed sign-ins. Wait a little, then try again.',
      {
        retryAfter: Math.ceil((until - now()) / 1000),
      },
    )
  }

  return {
    assertMayTry(address, account) {
      const { byAddress, byAccount, byBoth } = keys(address, account)
      const ofAddress = current(byAddress)
      if (ofAddress.count >= MAX_FAILURES) refuse(ofAddress)
      const ofAccount = current(byAccount)
      if (ofAccount.count >= MAX_FAILURES && current(byBoth).count > 0) refuse(ofAccount)
    },
    failed(address, account) {
      for (const key of Object.values(keys(address, account))) add(key)
    },
    succeeded(address, account) {
      const { byAccount, byBoth } = keys(address, account)
      failures.delete(byAccount)
      failures.delete(byBoth)
    },
  }
}
