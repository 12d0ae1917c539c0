// The token of the setup link, which the server prints when it starts without any account.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { hashLinkToken, newLinkToken } from './link-token.ts'

/** Never stored; the first account ends its use. */
export interface SetupToken {
  readonly token: string
  /** Compares in constant time. */
  matches(candidate: string): boolean
}

/**
 * It is valid as long as there is no account. In a single process, each start has a new one.
 * @param secret what all instances of a store know: each prints the same link, because any of them may receive it.
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
