// Starts the session at the end of every sign-in: with a cookie for a page, with a lasting token for a program.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { KnownBrowser, KnownBrowsers } from '../../auth/known-browsers.ts'
import { REFRESH_LIFETIME_SECONDS, type Sessions } from '../../auth/sessions.ts'
import { ACCESS_LIFETIME_SECONDS, TOKEN_LIFETIME_SECONDS } from '../../auth/tokens.ts'
import type { UserRow } from '../../db/repositories/accounts/users.ts'
import type { IssueToken } from '../../http/authentication.ts'
import { knownCookie, readKnownCookie, sessionCookie } from '../../http/session-cookie.ts'
import type { SignedIn } from '../../protocol/accounts/user.ts'
import { presentUser } from './present-user.ts'

/** What starting a session needs. */
export interface SessionStartDependencies {
  sessions: Sessions
  knownBrowsers: KnownBrowsers
  issueToken: IssueToken
  /** Whether the page is served over TLS. */
  https: boolean
}

/** Chrome keeps no cookie for longer than 400 days. */
const KNOWN_SECONDS = 365 * 24 * 60 * 60

/** The browser that sent the request. */
export const browserOf = (
  request: FastifyRequest,
  { knownBrowsers }: Pick<SessionStartDependencies, 'knownBrowsers'>,
): KnownBrowser => knownBrowsers.read(readKnownCookie(request), request.ip)

/** Starts the session of a user who has signed in. */
export type SessionStart = ReturnType<typeof createSessionStart>

/** Every way to sign in ends here. */
export function createSessionStart({
  sessions,
  knownBrowsers,
  issueToken,
  https,
}: SessionStartDependencies) {
  const cookieSettings = { https, lifetimeSeconds: REFRESH_LIFETIME_SECONDS }
  return {
    /** Sets the cookie of a page's session; null removes it. */
    setCookie(request: FastifyRequest, reply: FastifyReply, refreshToken: string | null): void {
      void reply.header('set-cookie', sessionCookie(request, refreshToken, cookieSettings))
    },

    /** @throws AppError `session_ended` if the account has changed since it was read. */
    async begin(
      request: FastifyRequest,
      reply: FastifyReply,
      { user, isPage }: { user: UserRow; isPage: boolean },
    ): Promise<{ sessionId: string; signedIn: z.output<typeof SignedIn> }> {
      request.audited = { ...request.audited, username: user.username, userId: user.id }
      const { session, refreshToken } = await sessions.begin(user, isPage ? 'page' : 'token', {
        userAgent: request.headers['user-agent'] ?? '',
        address: request.ip,
      })
      if (refreshToken !== null) {
        this.setCookie(request, reply, refreshToken)
        const kept = knownBrowsers.remember(readKnownCookie(request), user)
        const settings = { https, lifetimeSeconds: KNOWN_SECONDS }
        void reply.header('set-cookie', knownCookie(request, kept, settings))
      }
      const lifetime = isPage ? ACCESS_LIFETIME_SECONDS : TOKEN_LIFETIME_SECONDS
      return {
        sessionId: session.id,
        signedIn: {
          token: issueToken(user, session.id, lifetime),
          expires_in: lifetime,
          user: presentUser(user),
        },
      }
    },
  }
}
