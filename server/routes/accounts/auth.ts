// Routes for signing in, renewing a session, and signing out.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Client } from '../../auth/accounts.ts'
import { ACCESS_LIFETIME_SECONDS } from '../../auth/tokens.ts'
import type { UserRow } from '../../db/repositories/accounts/users.ts'
import { AppError, appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import { isLocalRequest } from '../../http/local-client.ts'
import { assertSameOrigin, readSessionCookie } from '../../http/session-cookie.ts'
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
import type { AuditDetails } from '../../protocol/admin/audit.ts'
import { envelope } from '../../protocol/envelope.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'
import { registerEmailLinkRoutes } from './email-links.ts'
import { registerPasskeyRoutes, siteOf } from './passkeys.ts'
import { presentUser } from './present-user.ts'
import { assertNoSecondFactor, registerSecondFactorRoutes } from './second-factor.ts'
import { browserOf, createSessionStart, type SessionStart } from './session-start.ts'

// What the page shows a person who opens a setup, invitation, reset or confirmation link.

/** What a link is for. @throws AppError `account_link_invalid`. */
async function readAccountLink(
  { accounts, links, setup }: Pick<Services, 'accounts' | 'links' | 'setup'>,
  token: string,
): Promise<AccountLink> {
  if (setup.matches(token) && !(await accounts.exist()))
    return { kind: 'setup', role: 'admin', username: null, expires_at: null }
  const link = await links.find(token)
  if (link === undefined) throw appError('account_link_invalid')
  const { kind, role, userId } = link
  const expiresAt = link.expiresAt.toISOString()
  if (kind !== 'reset' || userId === null)
    return {
      kind,
      role: kind === 'invitation' ? role : null,
      username: null,
      ...(kind === 'confirmation' ? { address: link.note } : {}),
      expires_at: expiresAt,
    }
  const { username } = await accounts.profile(userId)
  return { kind, role: null, username, expires_at: expiresAt }
}

type AuthServices = Pick<
  Services,
  | 'authMode'
  | 'settings'
  | 'isBehindProxy'
  | 'isHttps'
  | 'basePath'
  | 'publicUrl'
  | 'signInOffer'
  | 'accounts'
  | 'links'
  | 'setup'
  | 'sessions'
  | 'knownBrowsers'
  | 'record'
  | 'connections'
  | 'secondFactors'
  | 'passkeys'
  | 'emailLinks'
  | 'oidc'
  | 'limits'
>

/** `/api/auth/…`. In single-user mode, registering and signing in return 403. */
export function registerAuthRoutes(app: App, services: AuthServices): void {
  const sessionStart = createSessionStart(app, services)
  if (services.authMode === 'multi') {
    registerSecondFactorRoutes(app, services, sessionStart)
    registerPasskeyRoutes(app, services, sessionStart)
    registerEmailLinkRoutes(app, services)
  }
  registerMode(app, services)
  registerRegistration(app, services, sessionStart)
  registerPasswords(app, services, sessionStart)
  registerSessionEnds(app, services, sessionStart)
}

/** The route that describes how to sign in to this server. */
function registerMode(app: App, services: AuthServices): void {
  const { authMode: mode, settings, accounts } = services

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
      const { passkeys, publicUrl, signInOffer, emailLinks } = services
      const hasPasskeys = mode === 'multi' && passkeys.areAvailable(siteOf(request, publicUrl))
      const known = {
        mode,
        registration: settings.current().effective.registration,
        ...signInOffer,
        ...(hasPasskeys ? { passkeys: true as const } : {}),
        ...(mode === 'multi' && emailLinks.isAvailable ? { mail: true as const } : {}),
      }
      if (mode === 'single' || (await accounts.exist())) return success(known)
      return success({
        ...known,
        ...(accounts.mayBeFirst(clientOf(request, services))
          ? { first_user: true as const }
          : { setup_link: true as const }),
      })
    },
  )
}

/** Starts a session and responds with it. @param signIn see `SessionStart.begin`. */
const signInWith =
  (sessionStart: SessionStart) =>
  async (
    request: FastifyRequest<{ Body: { cookie?: boolean | undefined } }>,
    reply: FastifyReply,
    user: UserRow,
    signIn: AuditDetails | null,
  ) => {
    const isPage = request.body.cookie === true
    return success((await sessionStart.begin(request, reply, { user, isPage, signIn })).signedIn)
  }

/** Registration, and the links for it. */
function registerRegistration(app: App, services: AuthServices, sessionStart: SessionStart): void {
  const { accounts } = services
  const signIn = signInWith(sessionStart)

  app.post(
    '/api/auth/register',
    {
      config: { public: true },
      schema: {
        summary: 'Register an account; the first account becomes an administrator',
        description:
          'To register the first account, use the setup link that the server prints at startup, or send the request from the same machine. `link` is the token of the setup link or of an invitation.',
        body: RegisterBody,
        response: { 200: envelope(SignedIn) },
      },
    },
    async (request, reply) => {
      assertMultiUser(services)
      const user = await accounts.register(request.body, clientOf(request, services))
      return signIn(request, reply, user, null)
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
      assertMultiUser(services)
      return success(await readAccountLink(services, body.link))
    },
  )
}

/** Signing in with a password, and resetting the password. */
function registerPasswords(app: App, services: AuthServices, sessionStart: SessionStart): void {
  const { accounts } = services
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
      assertMultiUser(services)
      const { link, password, revoke_keys: revokeKeys } = request.body
      const user = await accounts.resetPassword(link, { password, revokeKeys }, request.ip)
      services.connections.end(user.id, { kept: reply.raw })
      // Access to a mailbox must not be enough if the account has a second factor.
      await assertNoSecondFactor(services.secondFactors, user)
      return signIn(request, reply, user, null)
    },
  )

  app.post(
    '/api/auth/login',
    {
      config: { public: true, whileDiskFull: true },
      schema: {
        summary: 'Sign in; the token is valid for seven days',
        description:
          'Pages send `cookie: true`: the token is then valid for `expires_in` seconds, and the response sets a cookie with which `POST /api/auth/refresh` renews it.',
        body: LoginBody,
        response: { 200: envelope(SignedIn) },
      },
    },
    async (request, reply) => {
      assertMultiUser(services)
      return sessionStart.attempt(request, async (attempt) => {
        attempt.account = (await accounts.namedAs(request.body.username)) ?? null
        const user = await accounts.login(request.body, browserOf(request, services))
        await assertNoSecondFactor(services.secondFactors, user)
        return signIn(request, reply, user, {})
      })
    },
  )
}

function registerSessionEnds(app: App, services: AuthServices, sessionStart: SessionStart): void {
  const { accounts, sessions, oidc } = services

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
      assertMultiUser(services)
      assertSameOrigin(request)
      const cookie = readSessionCookie(request)
      if (cookie === undefined) throw appError('sign_in_required')
      try {
        const { session, user, refreshToken } = await sessions.refresh(cookie, request.ip)
        sessionStart.setCookie(request, reply, refreshToken)
        return success({
          token: app.issueToken(user, session.id, ACCESS_LIFETIME_SECONDS),
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
      config: { whileDiskFull: true },
      schema: {
        summary: 'End the current session and its open streams',
        response: { 200: SignedOut },
      },
    },
    async (request, reply) => {
      const { session, user } = request
      const actor = actorOf(request)
      if (session?.sid !== undefined) {
        sessionStart.setCookie(request, reply, null)
        const url = (await oidc?.logoutUrl(session.sid)) ?? null
        const end = { actor, action: 'sign_out' as const, details: {} }
        await sessions.end(user.id, session.sid, end, reply.raw)
        if (url !== null) return { code: 0 as const, message: 'signed out', data: { url } }
      } else if (session !== null) {
        await accounts.revokeToken(session, actor)
        services.connections.end(user.id, { only: session.jti, kept: reply.raw })
      }
      return { code: 0 as const, message: 'signed out' }
    },
  )
}

const clientOf = (
  request: FastifyRequest,
  { isBehindProxy }: Pick<Services, 'isBehindProxy'>,
): Client => ({
  address: request.ip,
  isLocal: !isBehindProxy && isLocalRequest(request),
})

const assertMultiUser = ({ authMode }: Pick<Services, 'authMode'>): void => {
  if (authMode === 'single') throw appError('single_user')
}
