// The token of the set-up link, which the server prints when it starts without any account.
import { timingSafeEqual } from 'node:crypto'
import { hashLinkToken, newLinkToken } from './link-token.ts'

/** In memory only: each start prints a new link, and the first account ends its use. */
export interface SetupToken {
  readonly token: string
  /** Compares in constant time. */
  matches(candidate: string): boolean
}

/** A new token at each start; it is valid as long as there is no account. */
export function createSetupToken(): SetupToken {
  const token = newLinkToken()
  const expected = Buffer.from(hashLinkToken(token))
  return {
    token,
    matches: (candidate) => timingSafeEqual(Buffer.from(hashLinkToken(candidate)), expected),
  }
}
