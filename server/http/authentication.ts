// Authenticates requests: sets `request.user` from the Authorization header, for every non-public route under /api and /v1.
import fastifyJwt from '@fastify/jwt'
import type { FastifyRequest } from 'fastify'
import type { Identity } from '../auth/identity.ts'
import {
  CLOCK_LEEWAY_SECONDS,
  type NewTokenClaims,
  newClaims,
  TOKEN_AUDIENCE,
  TOKEN_LIFETIME_SECONDS,
  TokenClaims,
} from '../auth/tokens.ts'
import { type AppError, appError } from '../errors.ts'
import type { UserId } from '../protocol/ids.ts'
import type { App } from './app.ts'
import { createOpenConnections, type OpenConnections } from './open-connections.ts'

declare module '@fastify/jwt' {
  interface FastifyJWT {
    payload: NewTokenClaims
    user: Identity
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The claims of the session token; null with an API key and in single-user mode. */
    session: TokenClaims | null
  }
}

/** Looks up the user of a credential; null when it is invalid or revoked. */
export interface CredentialCheck {
  ofSession(claims: TokenClaims): Promise<Identity | null>
  ofApiKey(key: string): Promise<Identity | null>
}

export type AuthenticationOptions =
  | { mode: 'single'; defaultUser: Identity }
  | {
      mode: 'multi'
      secret: string
      credentials: CredentialCheck
    }

/** Creates a session token for a user. Throws in single-user mode. */
export type IssueToken = (user: { id: UserId; tokenVersion: number }) => string

const API_KEY_PREFIX = 'nc-'
const GUARDED = /^\/(api|v1)(\/|$)/

/** Registers authentication; call it before the routes. Returns the function that issues tokens. */
export async function registerAuthentication(
  app: App,
  options: AuthenticationOptions,
  connections: OpenConnections = createOpenConnections(),
): Promise<IssueToken> {
  app.decorateRequest('session', null)
  if (options.mode === 'single') {
    // @fastify/jwt decorates `request.user`, but it is not registered in single-user mode.
    app.decorateRequest('user')
    app.addHook('onRequest', async (request) => {
      request.user = options.defaultUser
    })
    return () => {
      throw appError('single_user')
    }
  }
  await app.register(fastifyJwt, {
    secret: options.secret,
    sign: { algorithm: 'HS256', aud: TOKEN_AUDIENCE, expiresIn: TOKEN_LIFETIME_SECONDS },
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
    if (config.public === true || !GUARDED.test(request.routeOptions.url ?? '')) return
    const since = connections.moment()
    request.user = await identify(app, request, options.credentials)
    if (!connections.add(request.user.id, since, reply)) throw sessionEnded()
    if (config.admin === true && request.user.role !== 'admin')
      throw appError('administrators_only')
  })
  app.addHook('preSerialization', async (_request, reply, payload) => {
    connections.markReady(reply)
    return payload
  })
  app.addHook('onSend', async (_request, reply, payload) => {
    if (typeof payload === 'string' || Buffer.isBuffer(payload)) connections.markReady(reply)
    return payload
  })
  return (user) => app.jwt.sign(newClaims(user))
}

async function identify(
  app: App,
  request: FastifyRequest,
  credentials: CredentialCheck,
): Promise<Identity> {
  const credential = bearer(request.headers.authorization)
  if (credential === undefined) throw appError('sign_in_required')
  if (credential.startsWith(API_KEY_PREFIX)) {
    const owner = await credentials.ofApiKey(credential)
    if (owner !== null) return owner
    throw appError('api_key_invalid')
  }
  const claims = readClaims(app, credential)
  const user = claims === null ? null : await credentials.ofSession(claims)
  if (user === null) throw sessionEnded()
  request.session = claims
  return user
}

const sessionEnded = (): AppError => appError('session_ended')

const bearer = (header: string | undefined): string | undefined =>
  header === undefined ? undefined : (/^Bearer +([^\s]+) *$/i.exec(header)?.[1] ?? undefined)

function readClaims(app: App, token: string): TokenClaims | null {
  try {
    const claims = TokenClaims.parse(app.jwt.verify<object>(token))
    const isFromTheFuture = claims.iat > Date.now() / 1000 + CLOCK_LEEWAY_SECONDS
    return isFromTheFuture ? null : claims
  } catch {
    // The response is the same for every kind of invalid token.
    return null
  }
}
