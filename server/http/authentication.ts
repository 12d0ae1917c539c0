// Authenticates requests: sets `request.user` from the Authorization header, for every non-public route under /api and /v1.
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Identity } from '../auth/identity.ts'
import type { TokenKeys } from '../auth/token-keys.ts'
import {
  CLOCK_LEEWAY_SECONDS,
  type NewTokenClaims,
  newClaims,
  TOKEN_AUDIENCE,
  TokenClaims,
} from '../auth/tokens.ts'
import { AppError, appError } from '../errors.ts'
import { inRanges } from '../lib/address-ranges.ts'
import type { ApiKeyScope, ProgramTools } from '../protocol/accounts/user.ts'
import type { UserId } from '../protocol/ids.ts'
import type { App } from './app.ts'
import { createOpenConnections, type OpenConnections, type Sender } from './open-connections.ts'

// In multi-user mode, only administrators and named addresses see the metrics and the API reference.

/** Who may see metrics and the reference. */
interface ReferenceRules {
  /** Everybody may see them. */
  isPublic: boolean
  /** Addresses or CIDR ranges that need no token. */
  allow: readonly string[]
}

const REFERENCE_PATHS = /^\/(metrics|openapi\.json|docs(\/.*)?)$/

/** Whether the request is for the metrics or the reference. */
const isReference = ({ routeOptions }: Pick<FastifyRequest, 'routeOptions'>): boolean =>
  REFERENCE_PATHS.test(routeOptions.url ?? '')

/** Whether the address may see them without a token. */
const mayReadReference = (address: string, { isPublic, allow }: ReferenceRules): boolean =>
  isPublic || inRanges(allow)(address)

declare module '@fastify/jwt' {
  interface FastifyJWT {
    payload: NewTokenClaims
    user: Identity
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    issueToken: IssueToken
  }
  interface FastifyRequest {
    /** The claims of the session token; null with an API key and in single-user mode. */
    session: TokenClaims | null
    /** The API key of the request; null with a session token and in single-user mode. */
    apiKey: RequestKey | null
  }
}

/** What a request needs to know of its API key. */
interface RequestKey {
  id: string
  scopes: readonly ApiKeyScope[] | null
  programTools: ProgramTools | null
}

/** Looks up a credential's user; null if the credential is invalid or revoked. */
export interface CredentialCheck {
  /** @param isUse if false, the session does not count as used. */
  ofSession(claims: TokenClaims, isUse?: boolean): Promise<Identity | null>
  ofApiKey(key: string): Promise<{ user: Identity; key: RequestKey } | null>
}

/** How to identify the user of a request, in single-user and multi-user mode. */
export type AuthenticationOptions =
  | { mode: 'single'; defaultUser: Identity }
  | {
      mode: 'multi'
      /** The keys that sign and verify tokens. */
      keys: TokenKeys
      credentials: CredentialCheck
      /** The rules for who may read the metrics and the API reference. */
      reference: ReferenceRules
    }

/** @param tokenKeys null in single-user mode: requests are those of the one user then. */
export const authenticationOptions = async ({
  accounts,
  tokenKeys,
  reference,
}: {
  accounts: CredentialCheck & { defaultUser(): Promise<Identity> }
  tokenKeys: TokenKeys | null
  reference: ReferenceRules
}): Promise<AuthenticationOptions> =>
  tokenKeys === null
    ? { mode: 'single', defaultUser: await accounts.defaultUser() }
    : { mode: 'multi', keys: tokenKeys, credentials: accounts, reference }

/** Creates a session's token. Throws in single-user mode. */
export type IssueToken = (
  user: { id: UserId; tokenVersion: number },
  sessionId: string,
  lifetimeSeconds: number,
) => string

const API_KEY_PREFIX = 'nc-'
/** The form of a session's token. */
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]*$/
const GUARDED = /^\/(api|v1|mcp)(\/|$)/

/** Registers authentication; call it before the routes. `app.issueToken` then issues tokens. */
export async function registerAuthentication(
  app: App,
  options: AuthenticationOptions,
  connections: OpenConnections = createOpenConnections(),
): Promise<void> {
  app.decorateRequest('session', null)
  app.decorateRequest('apiKey', null)
  if (options.mode === 'single') {
    // @fastify/jwt decorates `request.user`, but it is not registered in single-user mode.
    app.decorateRequest('user')
    app.addHook('onRequest', async (request) => {
      request.user = options.defaultUser
    })
    app.decorate('issueToken', () => {
      throw appError('single_user')
    })
    return
  }
  const { keys } = options
  const newest = keys.current()
  const { default: fastifyJwt } = await import('@fastify/jwt')
  await app.register(fastifyJwt, {
    secret: newest.secret,
    sign: { algorithm: 'HS256', aud: TOKEN_AUDIENCE, kid: newest.id },
    verify: {
      algorithms: ['HS256'],
      allowedAud: TOKEN_AUDIENCE,
      checkTyp: 'JWT',
      // In milliseconds, unlike `expiresIn`.
      clockTolerance: CLOCK_LEEWAY_SECONDS * 1000,
      requiredClaims: ['exp', 'iat', 'aud', 'sub', 'jti'],
    },
  })
  app.addHook('onRequest', async (request, reply) => {
    const { config } = request.routeOptions
    if (isReference(request)) {
      if (mayReadReference(request.ip, options.reference)) return
      await identify(app, request, options)
      if (request.user.role !== 'admin') throw appError('administrators_only')
      authorize(request)
      return
    }
    if (config.mayKnowUser === true) return identifyIfPossible(app, request, options)
    if (config.public === true || !GUARDED.test(request.routeOptions.url ?? '')) return
    const since = connections.moment()
    const sender = await identify(app, request, options)
    const isStillValid = (): Promise<boolean> => isIdentified(request, options.credentials)
    if (!connections.add(sender, since, reply, isStillValid)) throw sessionEnded()
    authorize(request)
  })
  app.addHook('preSerialization', async (_request, reply, payload) => {
    connections.markReady(reply)
    return payload
  })
  app.addHook('onSend', async (_request, reply, payload) => {
    if (typeof payload === 'string' || Buffer.isBuffer(payload)) connections.markReady(reply)
    return payload
  })
  app.decorate('issueToken', (user, sessionId, lifetimeSeconds) =>
    app.jwt.sign(newClaims(user, sessionId), { expiresIn: lifetimeSeconds }),
  )
}

interface Verification {
  credentials: CredentialCheck
  keys: TokenKeys
}

/** Leaves the request without a user if it has no valid credential. */
async function identifyIfPossible(
  app: App,
  request: FastifyRequest,
  options: Verification,
): Promise<void> {
  if (credentialOf(request) === undefined && request.headers.authorization === undefined) return
  try {
    await identify(app, request, options)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
  }
}

/** Sets the request's user, and the credential that identified the user. */
async function identify(
  app: App,
  request: FastifyRequest,
  { credentials, keys }: Verification,
): Promise<Sender> {
  const credential = credentialOf(request)
  if (credential === undefined) throw appError('sign_in_required')
  if (credential.startsWith(API_KEY_PREFIX)) {
    const found = await credentials.ofApiKey(credential)
    if (found === null) throw appError('api_key_invalid')
    request.user = found.user
    request.apiKey = found.key
    return { userId: found.user.id, credential: found.key.id }
  }
  // A program with a key of another service did not sign in before.
  if (!TOKEN.test(credential)) throw appError('api_key_invalid')
  const claims = readClaims(app, credential, keys)
  const user = claims === null ? null : await credentials.ofSession(claims)
  if (claims === null || user === null) throw sessionEnded()
  request.user = user
  request.session = claims
  return { userId: user.id, credential: claims.sid ?? claims.jti }
}

/** Whether the credential of an identified request is still valid, for a user with the same role. */
async function isIdentified(
  { headers, user, session }: FastifyRequest,
  credentials: CredentialCheck,
): Promise<boolean> {
  const found =
    session === null
      ? (await credentials.ofApiKey(credentialOf({ headers }) ?? ''))?.user
      : await credentials.ofSession(session, false)
  return found?.role === user.role
}

/** Decides which routes a user and a key may call. No other code does. @throws AppError `forbidden`. */
function authorize({ user, apiKey, method, routeOptions }: FastifyRequest): void {
  const { config, url = '' } = routeOptions
  if (config.admin === true && user.role !== 'admin') throw appError('administrators_only')
  if (apiKey === null) return
  if (config.signedIn === true) throw appError('api_key_not_allowed')
  if (apiKey.scopes === null) return
  const sufficient = scopesFor(url, { isAdmin: config.admin === true, method })
  if (!apiKey.scopes.some((scope) => sufficient.includes(scope)))
    throw appError('api_key_scope', { scope: sufficient[0] ?? '' })
}

/** The scopes that permit the request, narrowest first; a key needs one of them. */
function scopesFor(
  url: string,
  { isAdmin, method }: { isAdmin: boolean; method: string },
): readonly ApiKeyScope[] {
  if (url.startsWith('/v1')) return ['v1']
  if (url.startsWith('/mcp')) return ['mcp']
  if (isAdmin) return ['admin']
  return ['GET', 'HEAD'].includes(method) ? ['read', 'api', 'admin'] : ['api', 'admin']
}

const sessionEnded = (): AppError => appError('session_ended')

/** Anthropic's clients send the key in a header of its own. */
const KEY_HEADER = 'x-api-key'

/** The token or key of a request; undefined if it has none. */
function credentialOf({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  const key = headers[KEY_HEADER]
  return bearer(headers.authorization) ?? (typeof key === 'string' && key !== '' ? key : undefined)
}

const bearer = (header: string | undefined): string | undefined =>
  header === undefined ? undefined : (/^Bearer +([^\s]+) *$/i.exec(header)?.[1] ?? undefined)

/** The header of a token that names the key that signed it; tokens of earlier versions name none. */
const Header = z.object({ kid: z.string().optional() })

function readClaims(app: App, token: string, keys: TokenKeys): TokenClaims | null {
  try {
    const { kid } = Header.parse(
      JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()),
    )
    const newest = keys.current()
    if (kid === newest.id) return checked(app.jwt.verify<object>(token))
    const earlier = keys.accepted().filter(({ id }) => kid === undefined || id === kid)
    for (const { secret } of earlier) {
      const claims = verifiedWith(app, token, secret)
      if (claims !== null) return claims
    }
    return null
  } catch {
    // The response is the same for every kind of invalid token.
    return null
  }
}

function verifiedWith(app: App, token: string, key: string): TokenClaims | null {
  try {
    return checked(app.jwt.verify<object>(token, { key }))
  } catch {
    return null // another key may fit
  }
}

function checked(payload: object): TokenClaims | null {
  const claims = TokenClaims.parse(payload)
  const isFromTheFuture = claims.iat > Date.now() / 1000 + CLOCK_LEEWAY_SECONDS
  return isFromTheFuture ? null : claims
}
