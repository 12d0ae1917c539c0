// What a user's sign-in to an MCP server left: tokens, and what refreshing them needs.
import type { AuthorizationServerMetadata, OAuthTokens } from '@modelcontextprotocol/client'
import { z } from 'zod'
import type { UserId } from '../../../protocol/ids.ts'

/** The client that an authorization server knows this installation as (RFC 6749, RFC 7591). */
export const OAuthClient = z.object({
  client_id: z.string(),
  client_secret: z.string().optional(),
})
export type OAuthClient = z.infer<typeof OAuthClient>

/** Everything in it is secret as a whole: it is stored sealed. */
export const McpGrant = z.object({
  /** The address of the server that the tokens are for: they are never sent to another one. */
  url: z.string(),
  /** The authorization server that issued them. */
  issuer: z.string(),
  metadata: z.custom<AuthorizationServerMetadata>((value) => typeof value === 'object').optional(),
  client: OAuthClient,
  resource: z.string(),
  scope: z.string().optional(),
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  /** When the access token should be refreshed, in milliseconds as of `Date.now`; null if it does not expire. */
  refreshAt: z.number().nullable(),
})
export type McpGrant = z.infer<typeof McpGrant>

/** A sign-in that has begun: what is needed when the person comes back, to whichever instance. Secret as a whole. */
export const PendingSignIn = McpGrant.omit({
  accessToken: true,
  refreshToken: true,
  refreshAt: true,
}).extend({ server: z.string(), codeVerifier: z.string(), redirectUri: z.string() })
export type PendingSignIn = z.infer<typeof PendingSignIn>

/** The stored grants and registrations; it seals what it stores. Each method that writes is durable when it resolves. */
export interface McpGrantStore {
  find(userId: UserId, server: string): Promise<McpGrant | undefined>
  save(userId: UserId, server: string, grant: McpGrant): Promise<void>
  remove(userId: UserId, server: string): Promise<void>
  /** The registration of this installation at an authorization server, for one redirect address. */
  findClient(issuer: string, redirectUri: string): Promise<OAuthClient | undefined>
  saveClient(issuer: string, redirectUri: string, client: OAuthClient): Promise<void>
  /** Keeps a sign-in that this user has begun, under its `state`, for ten minutes. */
  savePending(userId: UserId, state: string, pending: PendingSignIn): Promise<void>
  /** The sign-in that this user began, once: taking it removes it. Undefined when there is none, or it is over. */
  takePending(userId: UserId, state: string): Promise<PendingSignIn | undefined>
}

/** Tokens are refreshed one to three minutes before they expire, so that those of a team do not all expire at once. */
const EARLIEST_MS = 180_000
const LATEST_MS = 60_000

/** When tokens with this lifetime, in seconds, should be refreshed: in their last minutes, or their last fifth. */
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

/** The tokens of a response as part of a grant. A server that sends no new refresh token lets the old one stay valid. */
export const tokensOf = (
  tokens: OAuthTokens,
  now: number,
): Pick<McpGrant, 'accessToken' | 'refreshAt' | 'refreshToken' | 'scope'> => ({
  accessToken: tokens.access_token,
  refreshAt: refreshTime(tokens.expires_in, now),
  ...(tokens.refresh_token === undefined ? {} : { refreshToken: tokens.refresh_token }),
  ...(tokens.scope === undefined ? {} : { scope: tokens.scope }),
})
