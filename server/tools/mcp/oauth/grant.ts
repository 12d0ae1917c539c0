// What remains of a user's sign-in to an MCP server: tokens, and what refreshing them needs.
import type { AuthorizationServerMetadata, OAuthTokens } from '@modelcontextprotocol/client'
import { z } from 'zod'
import type { UserId } from '../../../protocol/ids.ts'

/** The client as which an authorization server knows this installation (RFC 6749, RFC 7591). */
export const OAuthClient = z.object({
  client_id: z.string(),
  client_secret: z.string().optional(),
})
/** The client as which an authorization server knows this installation. Without a secret, it is a public client. */
export type OAuthClient = z.infer<typeof OAuthClient>

/** All of it is secret; it is stored sealed. */
export const McpGrant = z.object({
  /** The address of the server that the tokens are for. They are never sent to another server. */
  url: z.string(),
  /** The authorization server that issued them. */
  issuer: z.string(),
  metadata: z.custom<AuthorizationServerMetadata>((value) => typeof value === 'object').optional(),
  client: OAuthClient,
  resource: z.string(),
  scope: z.string().optional(),
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  /** When to refresh the access token, in milliseconds as of `Date.now`; null if it does not expire. */
  refreshAt: z.number().nullable(),
})
/** The stored result of a sign-in of one user to one MCP server. All of it is secret. */
export type McpGrant = z.infer<typeof McpGrant>

/** A sign-in in progress: what is needed when the person returns, to any instance. All of it is secret. */
export const PendingSignIn = McpGrant.omit({
  accessToken: true,
  refreshToken: true,
  refreshAt: true,
}).extend({ server: z.string(), codeVerifier: z.string(), redirectUri: z.string() })
/** A sign-in in progress, until the person returns from the authorization server. All of it is secret. */
export type PendingSignIn = z.infer<typeof PendingSignIn>

/** Stores grants and registrations, sealed. Each write is durable when it resolves. */
export interface McpGrantStore {
  find(userId: UserId, server: string): Promise<McpGrant | undefined>
  save(userId: UserId, server: string, grant: McpGrant): Promise<void>
  remove(userId: UserId, server: string): Promise<void>
  /** The registration of this installation at an authorization server, for one redirect address. */
  findClient(issuer: string, redirectUri: string): Promise<OAuthClient | undefined>
  saveClient(issuer: string, redirectUri: string, client: OAuthClient): Promise<void>
  /** Stores a sign-in that this user has begun, under its `state`, for ten minutes. */
  savePending(userId: UserId, state: string, pending: PendingSignIn): Promise<void>
  /**
   * Removes and returns the sign-in that this user began, so that it works only once. Undefined if there is none or it has
   * expired.
   */
  consumePending(userId: UserId, state: string): Promise<PendingSignIn | undefined>
}

/**
 * Tokens are refreshed one to three minutes before they expire, at random, so that a team's tokens do not all refresh at
 * once.
 */
const EARLIEST_MS = 180_000
const LATEST_MS = 60_000

/** When to refresh tokens with this lifetime in seconds: in their last minutes, or their last fifth if that is shorter. */
export function refreshTime(
  lifetimeSeconds: number | undefined,
  now: number,
  random = Math.random(),
): number | null {
  if (lifetimeSeconds === undefined) return null
  const lifetime = lifetimeSeconds * 1000
  const early = Math.min(LATEST_MS + random * (EARLIEST_MS - LATEST_MS), lifetime / 5)
  return now + lifetime - early
}

/** The tokens of a response as part of a grant. If the server sends no new refresh token, the old one stays valid. */
export const tokensOf = (
  tokens: OAuthTokens,
  now: number,
): Pick<McpGrant, 'accessToken' | 'refreshAt' | 'refreshToken' | 'scope'> => ({
  accessToken: tokens.access_token,
  refreshAt: refreshTime(tokens.expires_in, now),
  ...(tokens.refresh_token === undefined ? {} : { refreshToken: tokens.refresh_token }),
  ...(tokens.scope === undefined ? {} : { scope: tokens.scope }),
})
