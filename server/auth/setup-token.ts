// The token of the setup link, which the server prints at its start while there is no account.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { hashLinkToken, newLinkToken } from '../lib/link-token.ts'

/** Never stored. It stops working once the first account exists. */
export interface SetupToken {
  readonly token: string
  /** Compares in constant time. */
  matches(candidate: string): boolean
}

/**
 * Valid as long as there is no account. In a single process, each start creates a new one.
 * @param secret a secret that all instances of a store share: each prints the same link, because any of them may serve it.
 */
export function createSetupToken(secret?: string): SetupToken {
  const token =
    secret === undefined
      ? newLinkToken()
      : createHmac('sha256', secret).update('set-up link').digest('base64url')
  const expected = Buffer.from(hashLinkToken(token))
  return {
    token,
    matches: (candidate) => timingSafeEqual(Buffer.from(hashLinkToken(candidate)), expected),
  }
}
