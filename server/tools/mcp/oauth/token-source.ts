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

/** The tokens of one user for one server as they are now. */
interface TokenState extends TokenSourceOptions {
  isOver: boolean
  refreshedAt: number
  isStored: boolean
  refreshing: Promise<void> | null
}

/** Create one per user and server, for the lifetime of the connection. */
export function createTokenSource(options: TokenSourceOptions): TokenSource {
  const source: TokenState = {
    ...options,
    isOver: false,
    refreshedAt: 0,
    isStored: true,
    refreshing: null,
  }
  return {
    end: () => end(source),
    provider: {
      async token() {
        if (source.isOver) return refuse(source)
        if (!source.isStored) await store(source)
        if (source.grant.refreshAt !== null && Date.now() >= source.grant.refreshAt)
          await refreshOnce(source)
        return source.grant.accessToken
      },
      async onUnauthorized() {
        if (source.isOver) return refuse(source)
        if (Date.now() - source.refreshedAt >= LATE_MS) await refreshOnce(source)
      },
    },
  }
}

async function end(source: TokenState): Promise<void> {
  if (source.isOver) return
  source.isOver = true
  // The person may have signed in again in the meantime.
  const stored = await source.grants.find(source.userId, source.server)
  if (stored?.accessToken === source.grant.accessToken)
    await source.grants.remove(source.userId, source.server)
  source.onOver()
}

async function refuse(source: TokenState): Promise<never> {
  await end(source)
  const { UnauthorizedError } = await loadSdk()
  throw new UnauthorizedError('The user has to sign in again.')
}

/** A grant that could not be stored stays in memory, and is stored with the next request. */
async function store(source: TokenState): Promise<void> {
  source.isStored = false
  await source.grants.save(source.userId, source.server, source.grant)
  source.isStored = true
}

/** Loads the grant if another instance refreshed it or the person signed out there. */
async function takeOver(source: TokenState): Promise<boolean> {
  // The grant in memory is newer than the stored one.
  if (!source.isStored) return false
  const stored = await source.grants.find(source.userId, source.server)
  if (stored === undefined) return refuse(source)
  if (stored.accessToken === source.grant.accessToken) return false
  source.grant = stored
  source.refreshedAt = Date.now()
  return true
}

async function refresh(source: TokenState): Promise<void> {
  const work = `mcp refresh ${source.userId} ${source.server}`
  for (let looks = 1; !(await source.claims.claim(work)); looks += 1) {
    if (looks > MAX_LOOKS) throw new Error('another instance did not refresh the access token')
    await sleep(LOOK_MS)
    if (await takeOver(source)) return
  }
  try {
    if (!(await takeOver(source))) await exchange(source)
  } finally {
    await source.claims.finish(work)
  }
}

async function exchange(source: TokenState): Promise<void> {
  const { refreshToken } = source.grant
  if (refreshToken === undefined) return refuse(source)
  const sdk = await loadSdk()
  try {
    const tokens = await sdk.refreshAuthorization(source.grant.issuer, {
      clientInformation: source.grant.client,
      refreshToken,
      resource: source.grant.resource,
      fetchFn: source.fetch(source.grant.url),
      ...(source.grant.metadata === undefined ? {} : { metadata: source.grant.metadata }),
    })
    source.grant = { ...source.grant, ...tokensOf(tokens, Date.now()) }
    source.refreshedAt = Date.now()
  } catch (fault) {
    source.log('an access token for an MCP server was not refreshed', {
      server: source.server,
      user_id: source.userId,
      cause: fault instanceof sdk.OAuthError ? fault.code : errorText(fault),
    })
    // Only a response of the authorization server ends the sign-in. It may also be temporarily unreachable.
    if (fault instanceof sdk.OAuthError && !TEMPORARY.has(fault.code)) return refuse(source)
    throw fault
  }
  await store(source)
}

function refreshOnce(source: TokenState): Promise<void> {
  source.refreshing ??= refresh(source).finally(() => {
    source.refreshing = null
  })
  return source.refreshing
}

const TEMPORARY: ReadonlySet<string> = new Set([
  'server_error',
  'temporarily_unavailable',
  'too_many_requests',
])
