// The claims of a session token, and the rules for accepting one. @fastify/jwt does the signing.
import { z } from 'zod'
import { newId } from '../lib/ids.ts'
import { UserId } from '../protocol/ids.ts'

/** Seven days. */
export const TOKEN_LIFETIME_SECONDS = 7 * 24 * 60 * 60
/** How far clocks may differ. */
export const CLOCK_LEEWAY_SECONDS = 30
/**
 * Tokens are issued for this audience only, so that tokens of another service with the same secret are not accepted.
 */
export const TOKEN_AUDIENCE = 'nanoclaw'

/** The signed part of a token. `version` must equal the account's, so that a new password revokes all others. */
export const TokenClaims = z.object({
  sub: UserId,
  jti: z.string().min(1).max(64),
  kind: z.literal('session'),
  version: z.int().min(0),
  iat: z.number(),
  exp: z.number(),
})
export type TokenClaims = z.infer<typeof TokenClaims>

/** What the issuer signs; the signer adds `iat`, `exp` and `aud`. */
export type NewTokenClaims = Omit<TokenClaims, 'iat' | 'exp'>

/** Fresh claims for one sign-in. */
export const newClaims = (user: { id: UserId; tokenVersion: number }): NewTokenClaims => ({
  sub: user.id,
  jti: newId<string>(),
  kind: 'session',
  version: user.tokenVersion,
})
