// The access token of one user for one MCP server: refreshed early, by one request at a time, and never in a loop.
import { setTimeout as sleep } from 'node:timers/promises'
import type { AuthProvider } from '@modelcontextprotocol/client'
import { errorText } from '../../../errors.ts'
import type { WorkClaims } from '../../../lib/work-claims.ts'
import type { UserId } from '../../../protocol/ids.ts'
import { loadSdk } from '../sdk.ts'
import type { OAuthFetch } from './fetch.ts'
import { type McpGrant, type McpGrantStore, tokensOf } from './grant.ts'

/** The dependencies of a token source. */
export interface TokenSourceOptions {
  userId: UserId
  server: string
  grant: McpGrant
  grants: Pick<McpGrantStore, 'find' | 'save' | 'remove'>
  /** Only one instance at a time refreshes a grant, because its refresh token may work only once. */
  claims: Pick<WorkClaims, 'claim' | 'finish'>
  fetch: OAuthFetch
  /** Called when the authorization server or the MCP server no longer accepts the tokens: the sign-in is over. */
  onOver(): void
  log(message: string, detail: Record<string, unknown>): void
}

/** Access tokens of one user for one server, refreshed before they expire. */
export interface TokenSource {
  /** Provides the SDK with the token for each request. A rejected request is sent once more, with a refreshed token. */
  provider: AuthProvider
  /** Ends the sign-in after the server rejected a refreshed token. The person must sign in again. */
  end(): Promise<void>
}

/** For this long after a refresh, requests sent before it may still be rejected, because they carried the old token. */
const LATE_MS = 10_000
/** How often, and how many times, an instance checks whether another one has refreshed the grant. */
const LOOK_MS = 200
const MAX_LOOKS = 100

/** Create one per user and server, for the lifetime of the connection. */
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
    // The person may have signed in again in the meantime.
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

  /** Loads the grant if another instance refreshed it or the person signed out there. */
  const takeOver = async (): Promise<boolean> => {
    // The grant in memory is newer than the stored one.
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
      // Only a response of the authorization server ends the sign-in. It may also be temporarily unreachable.
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
