// The access token of one user for one MCP server: refreshed early, by one request at a time, and never in a loop.
import { setTimeout as sleep } from 'node:timers/promises'
import type { AuthProvider } from '@modelcontextprotocol/client'
import { errorText } from '../../../errors.ts'
import type { WorkClaims } from '../../../lib/work-claims.ts'
import type { UserId } from '../../../protocol/ids.ts'
import { loadSdk } from '../sdk.ts'
import type { OAuthFetch } from './fetch.ts'
import { type McpGrant, type McpGrantStore, tokensOf } from './grant.ts'

/** What the tokens of one user at one server are taken from. */
export interface TokenSourceOptions {
  userId: UserId
  server: string
  grant: McpGrant
  grants: Pick<McpGrantStore, 'find' | 'save' | 'remove'>
  /** One instance at a time refreshes a grant: its refresh token may work only once. */
  claims: Pick<WorkClaims, 'claim' | 'finish'>
  fetch: OAuthFetch
  /** The sign-in is over: the authorization server or the MCP server does not accept its tokens any longer. */
  onOver(): void
  log(message: string, detail: Record<string, unknown>): void
}

/** Access tokens of one user for one server, refreshed when they expire. */
export interface TokenSource {
  /** Gives the SDK the token of each request. A rejected request is sent once more, with a refreshed token. */
  provider: AuthProvider
  /** The server rejected a refreshed token: the sign-in is over, and the person has to sign in again. */
  end(): Promise<void>
}

/** Requests that were sent before a refresh may be rejected for so long after it: their token was the old one. */
const LATE_MS = 10_000
/** How often an instance looks whether another one has refreshed the grant, and how many times. */
const LOOK_MS = 200
const MAX_LOOKS = 100

/** One per user and server, for as long as they are connected. */
export function createTokenSource(options: TokenSourceOptions): TokenSource {
  const { userId, server, grants, claims } = options
  let grant = options.grant
  let isOver = false
  let refreshedAt = 0
  let isStored = true
  let refreshing: Promise<void> | null = null

  const end = async (): Promise<void> => {
    if (isOver) return
    isOver = true
    // The person may have signed in again since.
    const stored = await grants.find(userId, server)
    if (stored?.accessToken === grant.accessToken) await grants.remove(userId, server)
    options.onOver()
  }

  const refuse = async (): Promise<never> => {
    await end()
    const { UnauthorizedError } = await loadSdk()
    throw new UnauthorizedError('The user has to sign in again.')
  }

  /** A grant that could not be stored stays in memory, and is stored with the next request. */
  const store = async (): Promise<void> => {
    isStored = false
    await grants.save(userId, server, grant)
    isStored = true
  }

  /** Takes over what another instance has refreshed, or the person has ended there. */
  const takeOver = async (): Promise<boolean> => {
    // Newer than the stored one.
    if (!isStored) return false
    const stored = await grants.find(userId, server)
    if (stored === undefined) return refuse()
    if (stored.accessToken === grant.accessToken) return false
    grant = stored
    refreshedAt = Date.now()
    return true
  }

  const refresh = async (): Promise<void> => {
    const work = `mcp refresh ${userId} ${server}`
    for (let looks = 1; !(await claims.claim(work)); looks += 1) {
      if (looks > MAX_LOOKS) throw new Error('another instance did not refresh the access token')
      await sleep(LOOK_MS)
      if (await takeOver()) return
    }
    try {
      if (!(await takeOver())) await exchange()
    } finally {
      await claims.finish(work)
    }
  }

  const exchange = async (): Promise<void> => {
    const { refreshToken } = grant
    if (refreshToken === undefined) return refuse()
    const sdk = await loadSdk()
    try {
      const tokens = await sdk.refreshAuthorization(grant.issuer, {
        clientInformation: grant.client,
        refreshToken,
        resource: grant.resource,
        fetchFn: options.fetch(grant.url),
        ...(grant.metadata === undefined ? {} : { metadata: grant.metadata }),
      })
      grant = { ...grant, ...tokensOf(tokens, Date.now()) }
      refreshedAt = Date.now()
    } catch (fault) {
      options.log('an access token for an MCP server was not refreshed', {
        server,
        user_id: userId,
        cause: fault instanceof sdk.OAuthError ? fault.code : errorText(fault),
      })
      // Only an answer of the authorization server ends the sign-in; it may also be out of reach for a while.
      if (fault instanceof sdk.OAuthError && !TEMPORARY.has(fault.code)) return refuse()
      throw fault
    }
    await store()
  }

  const refreshOnce = (): Promise<void> => {
    refreshing ??= refresh().finally(() => {
      refreshing = null
    })
    return refreshing
  }

  return {
    end,
    provider: {
      async token() {
        if (isOver) return refuse()
        if (!isStored) await store()
        if (grant.refreshAt !== null && Date.now() >= grant.refreshAt) await refreshOnce()
        return grant.accessToken
      },
      async onUnauthorized() {
        if (isOver) return refuse()
        if (Date.now() - refreshedAt >= LATE_MS) await refreshOnce()
      },
    },
  }
}

const TEMPORARY: ReadonlySet<string> = new Set([
  'server_error',
  'temporarily_unavailable',
  'too_many_requests',
])
