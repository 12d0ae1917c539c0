// Every sign-in: its session with a cookie for a page or a lasting token for a program, or the entry of its failure.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { KnownBrowser } from '../../auth/known-browsers.ts'
import { REFRESH_LIFETIME_SECONDS } from '../../auth/sessions.ts'
import { ACCESS_LIFETIME_SECONDS, TOKEN_LIFETIME_SECONDS } from '../../auth/tokens.ts'
import type { UserRow } from '../../db/repositories/accounts/users.ts'
import { AppError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { logFailedSignIn } from '../../http/request-log.ts'
import { knownCookie, readKnownCookie, sessionCookie } from '../../http/session-cookie.ts'
import type { SignedIn } from '../../protocol/accounts/user.ts'
import type { AuditDetails } from '../../protocol/admin/audit.ts'
import type { Services } from '../../services.ts'
import { presentUser } from './present-user.ts'

/** Chrome keeps no cookie for longer than 400 days. */
const KNOWN_SECONDS = 365 * 24 * 60 * 60

/** The browser that sent the request. */
export const browserOf = (
  request: FastifyRequest,
  { knownBrowsers }: Pick<Services, 'knownBrowsers'>,
): KnownBrowser => knownBrowsers.read(readKnownCookie(request), request.ip)

/** What is known of a sign-in when it fails. */
interface SignInAttempt {
  /** Null if there is no account with the name, because people type passwords into that field. */
  account: Pick<UserRow, 'id' | 'username'> | null
  /** For the audit log. */
  details: AuditDetails
}

/** Starts the session of a user who has signed in. */
export type SessionStart = ReturnType<typeof createSessionStart>

/** Every way to sign in ends here. */
export function createSessionStart(
  app: Pick<App, 'issueToken'>,
  {
    sessions,
    knownBrowsers,
    record,
    isHttps: https,
    basePath,
  }: Pick<Services, 'sessions' | 'knownBrowsers' | 'record' | 'isHttps' | 'basePath'>,
) {
  const cookieSettings = { https, lifetimeSeconds: REFRESH_LIFETIME_SECONDS, basePath }

  /** Logs and records a sign-in that failed. @param by see `logFailedSignIn`. */
  async function fail(
    request: FastifyRequest,
    { account, details }: SignInAttempt,
    by?: string,
  ): Promise<void> {
    const username = account?.username ?? null
    logFailedSignIn(request, { account: username, ...(by === undefined ? {} : { by }) })
    await record({
      action: 'sign_in_failed',
      userId: account?.id ?? null,
      username,
      address: request.ip,
      details,
    })
  }

  return {
    fail,

    /** Performs a sign-in. If what it was given is wrong, it is recorded as failed. @param work notes what it learns. */
    async attempt<T>(
      request: FastifyRequest,
      work: (attempt: SignInAttempt) => Promise<T>,
    ): Promise<T> {
      const attempt: SignInAttempt = { account: null, details: {} }
      try {
        return await work(attempt)
      } catch (error) {
        const isWrong =
          error instanceof AppError && (error.status === 401 || error.reason === 'passkey_invalid')
        if (isWrong) await fail(request, attempt)
        throw error
      }
    },

    /** Sets the cookie of a page's session; null removes it. */
    setCookie(request: FastifyRequest, reply: FastifyReply, refreshToken: string | null): void {
      void reply.header('set-cookie', sessionCookie(request, refreshToken, cookieSettings))
    },

    /**
     * @param start.signIn the details of the audit entry; null if the session begins with an act that has one of its own.
     * @throws AppError `session_ended` if the account has changed since it was read.
     */
    async begin(
      request: FastifyRequest,
      reply: FastifyReply,
      { user, isPage, signIn }: { user: UserRow; isPage: boolean; signIn: AuditDetails | null },
    ): Promise<{ sessionId: string; signedIn: z.output<typeof SignedIn> }> {
      const device = { userAgent: request.headers['user-agent'] ?? '', address: request.ip }
      const kind = isPage ? 'page' : 'token'
      const { session, refreshToken } = await sessions.begin(user, kind, device, signIn)
      if (refreshToken !== null) {
        this.setCookie(request, reply, refreshToken)
        const kept = knownBrowsers.remember(readKnownCookie(request), user)
        const settings = { https, lifetimeSeconds: KNOWN_SECONDS, basePath }
        void reply.header('set-cookie', knownCookie(request, kept, settings))
      }
      const lifetime = isPage ? ACCESS_LIFETIME_SECONDS : TOKEN_LIFETIME_SECONDS
      return {
        sessionId: session.id,
        signedIn: {
          token: app.issueToken(user, session.id, lifetime),
          expires_in: lifetime,
          user: presentUser(user),
        },
      }
    },
  }
}
