// Routes for signing in, renewing a session, and signing out.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { AccountLinks } from '../../auth/account-links.ts'
import type { Client } from '../../auth/accounts.ts'
import type { OidcSignIn } from '../../auth/oidc/sign-in.ts'
import type { SetupToken } from '../../auth/setup-token.ts'
import { ACCESS_LIFETIME_SECONDS } from '../../auth/tokens.ts'
import type { UserRow } from '../../db/repositories/accounts/users.ts'
import { AppError, appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { isLocalRequest } from '../../http/local-client.ts'
import type { OpenConnections } from '../../http/open-connections.ts'
import { assertSameOrigin, readSessionCookie } from '../../http/session-cookie.ts'
import type { Limits } from '../../lib/limits.ts'
import {
  AccountLink,
  AuthMode,
  LinkBody,
  LoginBody,
  RegisterBody,
  ResetPasswordBody,
  SignedIn,
  SignedOut,
} from '../../protocol/accounts/user.ts'
import { envelope } from '../../protocol/envelope.ts'
import { success } from '../envelope.ts'
import { readAccountLink } from './account-link.ts'
import { type EmailLinkDependencies, registerEmailLinkRoutes } from './email-links.ts'
import { registerPasskeyRoutes, siteOf } from './passkeys.ts'
import { presentUser } from './present-user.ts'
import {
  assertNoSecondFactor,
  registerSecondFactorRoutes,
  type SecondFactorRouteDependencies,
} from './second-factor.ts'
import {
  browserOf,
  createSessionStart,
  type SessionStart,
  type SessionStartDependencies,
} from './session-start.ts'

/** The dependencies of the routes for registering and signing in. */
export interface AuthRouteDependencies
  extends SessionStartDependencies,
    SecondFactorRouteDependencies,
    EmailLinkDependencies {
  limits: Limits
  mode: 'single' | 'multi'
  registration(): 'open' | 'invite' | 'closed'
  /** Whether the server is behind a reverse proxy, so that no request counts as local. */
  behindProxy: boolean
  links: AccountLinks
  setup: SetupToken
  connections: OpenConnections
  oidc: Pick<OidcSignIn, 'logoutUrl'> | null // null: not configured
  /** What the sign-in page offers in addition to the password. */
  offered: Pick<z.input<typeof AuthMode>, 'oidc' | 'password_off'>
}

/** `/api/auth/…`. In single-user mode, registering and signing in return 403. */
export function registerAuthRoutes(app: App, dependencies: AuthRouteDependencies): void {
  const sessionStart = createSessionStart(dependencies)
  if (dependencies.mode === 'multi') {
    registerSecondFactorRoutes(app, { ...dependencies, sessionStart })
    registerPasskeyRoutes(app, { ...dependencies, sessionStart })
    registerEmailLinkRoutes(app, dependencies)
  }
  registerMode(app, dependencies)
  registerRegistration(app, dependencies, sessionStart)
  registerPasswords(app, dependencies, sessionStart)
  registerSessionEnds(app, dependencies, sessionStart)
}

/** The route that describes how to sign in to this server. */
function registerMode(app: App, dependencies: AuthRouteDependencies): void {
  const { mode, registration, accounts } = dependencies

  app.get(
    '/api/auth/mode',
    {
      config: { public: true },
      schema: {
        summary: 'Get the authentication mode of this server',
        response: { 200: envelope(AuthMode) },
      },
    },
    async (request) => {
      const { passkeys, publicUrl, offered, emailLinks } = dependencies
      const hasPasskeys = mode === 'multi' && passkeys.areAvailable(siteOf(request, publicUrl))
      const known = {
        mode,
        registration: registration(),
        ...offered,
        ...(hasPasskeys ? { passkeys: true as const } : {}),
        ...(mode === 'multi' && emailLinks.isAvailable ? { mail: true as const } : {}),
      }
      if (mode === 'single' || (await accounts.exist())) return success(known)
      return success({
        ...known,
        ...(accounts.mayBeFirst(clientOf(request, dependencies))
          ? { first_user: true as const }
          : { setup_link: true as const }),
      })
    },
  )
}

/** Starts a session and responds with it. */
const signInWith =
  (sessionStart: SessionStart) =>
  async (
    request: FastifyRequest<{ Body: { cookie?: boolean | undefined } }>,
    reply: FastifyReply,
    user: UserRow,
  ) => {
    const isPage = request.body.cookie === true
    return success((await sessionStart.begin(request, reply, { user, isPage })).signedIn)
  }

/** Registration, and the links for it. */
function registerRegistration(
  app: App,
  dependencies: AuthRouteDependencies,
  sessionStart: SessionStart,
): void {
  const { accounts } = dependencies
  const signIn = signInWith(sessionStart)

  app.post(
    '/api/auth/register',
    {
      config: { public: true, audit: { action: 'register' } },
      schema: {
        summary: 'Register an account; the first account becomes an administrator',
        description:
          'To register the first account, use the setup link that the server prints at startup, or send the request from the same machine. `link` is the token of the setup link or of an invitation.',
        body: RegisterBody,
        response: { 200: envelope(SignedIn) },
      },
    },
    async (request, reply) => {
      assertMultiUser(dependencies)
      return signIn(
        request,
        reply,
        await accounts.register(request.body, clientOf(request, dependencies)),
      )
    },
  )

  app.post(
    '/api/auth/links',
    {
      config: { public: true },
      schema: {
        summary: 'Get the purpose of a setup, invitation or reset link',
        body: LinkBody,
        response: { 200: envelope(AccountLink) },
      },
    },
    async ({ body }) => {
      assertMultiUser(dependencies)
      return success(await readAccountLink(dependencies, body.link))
    },
  )
}

/** Signing in with a password, and resetting the password. */
function registerPasswords(
  app: App,
  dependencies: AuthRouteDependencies,
  sessionStart: SessionStart,
): void {
  const { accounts } = dependencies
  const signIn = signInWith(sessionStart)

  app.post(
    '/api/auth/reset',
    {
      config: { public: true },
      schema: {
        summary: 'Set a new password with a reset link, and sign in',
        description:
          'Revokes all session tokens of the account and, with `revoke_keys`, its API keys.',
        body: ResetPasswordBody,
        response: { 200: envelope(SignedIn) },
      },
    },
    async (request, reply) => {
      assertMultiUser(dependencies)
      const { link, password, revoke_keys: revokeKeys } = request.body
      const user = await accounts.resetPassword(link, { password, revokeKeys }, request.ip)
      dependencies.connections.end(user.id, { kept: reply.raw })
      // Access to a mailbox must not be enough if the account has a second factor.
      await assertNoSecondFactor(dependencies.secondFactors, user)
      return signIn(request, reply, user)
    },
  )

  app.post(
    '/api/auth/login',
    {
      config: {
        public: true,
        whileDiskFull: true,
        audit: { action: 'sign_in', failed: 'sign_in_failed' },
      },
      schema: {
        summary: 'Sign in; the token is valid for seven days',
        description:
          'Pages send `cookie: true`: the token is then valid for `expires_in` seconds, and the response sets a cookie with which `POST /api/auth/refresh` renews it.',
        body: LoginBody,
        response: { 200: envelope(SignedIn) },
      },
    },
    async (request, reply) => {
      assertMultiUser(dependencies)
      // Record only names of existing accounts: people also type passwords into this field.
      const known = await accounts.namedAs(request.body.username)
      if (known !== undefined) request.audited = { username: known.username, userId: known.id }
      const user = await accounts.login(request.body, browserOf(request, dependencies))
      await assertNoSecondFactor(dependencies.secondFactors, user)
      return signIn(request, reply, user)
    },
  )
}

function registerSessionEnds(
  app: App,
  dependencies: AuthRouteDependencies,
  sessionStart: SessionStart,
): void {
  const { accounts, sessions, issueToken, oidc } = dependencies

  app.post(
    '/api/auth/refresh',
    {
      config: { public: true, whileDiskFull: true },
      schema: {
        summary: 'Renew the session of a page with its cookie',
        description:
          'Replaces the cookie. Using a cookie that was already replaced ends the session, because the cookie may be stolen.',
        response: { 200: envelope(SignedIn) },
      },
    },
    async (request, reply) => {
      assertMultiUser(dependencies)
      assertSameOrigin(request)
      const cookie = readSessionCookie(request)
      if (cookie === undefined) throw appError('sign_in_required')
      try {
        const { session, user, refreshToken } = await sessions.refresh(cookie, request.ip)
        sessionStart.setCookie(request, reply, refreshToken)
        return success({
          token: issueToken(user, session.id, ACCESS_LIFETIME_SECONDS),
          expires_in: ACCESS_LIFETIME_SECONDS,
          user: presentUser(user),
        })
      } catch (error) {
        if (error instanceof AppError && error.reason === 'session_ended')
          sessionStart.setCookie(request, reply, null)
        throw error
      }
    },
  )

  app.post(
    '/api/auth/logout',
    {
      config: { whileDiskFull: true, audit: { action: 'sign_out' } },
      schema: {
        summary: 'End the current session and its open streams',
        response: { 200: SignedOut },
      },
    },
    async (request, reply) => {
      const { session, user } = request
      if (session?.sid !== undefined) {
        sessionStart.setCookie(request, reply, null)
        const url = (await oidc?.logoutUrl(session.sid)) ?? null
        await sessions.end(user.id, session.sid, reply.raw)
        if (url !== null) return { code: 0 as const, message: 'signed out', data: { url } }
      } else if (session !== null) {
        await accounts.revokeToken(session)
        dependencies.connections.end(user.id, { only: session.jti, kept: reply.raw })
      }
      return { code: 0 as const, message: 'signed out' }
    },
  )
}

const clientOf = (
  request: FastifyRequest,
  { behindProxy }: Pick<AuthRouteDependencies, 'behindProxy'>,
): Client => ({
  address: request.ip,
  isLocal: !behindProxy && isLocalRequest(request),
})

const assertMultiUser = ({ mode }: Pick<AuthRouteDependencies, 'mode'>): void => {
  if (mode === 'single') throw appError('single_user')
}
