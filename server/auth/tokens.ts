// The claims of a session token, and the rules for accepting it. @fastify/jwt signs and verifies.
import { z } from 'zod'
import { newId } from '../lib/ids.ts'
import { UserId } from '../protocol/ids.ts'

/** Lifetime of programs' tokens: seven days. */
export const TOKEN_LIFETIME_SECONDS = 7 * 24 * 60 * 60
/** Lifetime of the page's tokens, which the page renews. */
export const ACCESS_LIFETIME_SECONDS = 15 * 60
/** Tolerated difference between clocks. */
export const CLOCK_LEEWAY_SECONDS = 30
/** The audience of all tokens, so that tokens of another service with the same secret are not accepted. */
export const TOKEN_AUDIENCE = 'nanoclaw'

/** The payload of a token. `version` must equal the account's, so that a password change revokes all other tokens. */
export const TokenClaims = z.object({
  sub: UserId,
  jti: z.string().min(1).max(64),
  kind: z.literal('session'),
  /** The session's id; absent in tokens of earlier versions. */
  sid: z.string().min(1).max(64).optional(),
  version: z.int().min(0),
  iat: z.number(),
  exp: z.number(),
})
/** The verified content of a session token (JWT). */
export type TokenClaims = z.infer<typeof TokenClaims>

/** The claims to sign; the signer adds `iat`, `exp` and `aud`. */
export type NewTokenClaims = Omit<TokenClaims, 'iat' | 'exp'>

/** New claims for a sign-in. */
export const newClaims = (
  user: { id: UserId; tokenVersion: number },
  sessionId: string,
): NewTokenClaims => ({
  sub: user.id,
  jti: newId<string>(),
  kind: 'session',
  sid: sessionId,
  version: user.tokenVersion,
})
