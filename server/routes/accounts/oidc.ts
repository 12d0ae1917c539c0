// Routes for single sign-on: redirect the browser to the issuer, and handle its return.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { ATTEMPT_LIFETIME_SECONDS, CALLBACK_PATH } from '../../auth/oidc/sign-in.ts'
import { AppError, appError, errorText } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { oidcCookie, readOidcCookie } from '../../http/session-cookie.ts'
import type { Services } from '../../services.ts'
import { browserOf, createSessionStart } from './session-start.ts'

/** How the audit log names this way in. */
const BY = 'single sign-on'
const ATTEMPTS = { limit: 60, windowMs: 5 * 60_000 }
/** A path of the page. Excludes everything that a browser could read as another site. */
const PAGE_PATH = /^\/(?![/\\])[^\\\s\p{Cc}]{0,1000}$/u

/** A path as a header can hold it: other characters are encoded, as browsers do. */
const inAscii = (path: string): string => path.replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent)

/** `/api/auth/oidc/…`, for browsers: both redirect, even if something is refused. */
export function registerOidcRoutes(
  app: App,
  services: Pick<
    Services,
    'oidc' | 'record' | 'limits' | 'sessions' | 'knownBrowsers' | 'isHttps' | 'basePath'
  >,
): void {
  const { oidc, basePath } = services
  if (oidc === null) return
  const attempts = services.limits.rateLimit('single sign-on', ATTEMPTS)
  const sessionStart = createSessionStart(app, services)
  const limit = async (request: FastifyRequest): Promise<void> => {
    const retryAfter = await attempts.acquire(browserOf(request, services).source)
    if (retryAfter !== null) throw appError('sign_ins_exhausted', {}, { retryAfter })
  }
  const keep = (request: FastifyRequest, reply: FastifyReply, kept: string | null): void => {
    const settings = {
      https: services.isHttps,
      lifetimeSeconds: ATTEMPT_LIFETIME_SECONDS,
      basePath,
    }
    void reply.header('set-cookie', oidcCookie(request, kept, settings))
  }
  /** Redirects to the sign-in page, which shows the reason. The reason is in the fragment, so no server sees it. */
  const refuse = (request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply => {
    if (!(error instanceof AppError) || error.reason === 'internal') throw error
    request.log.warn(
      { reason: error.reason, cause: errorText(error.cause ?? '') },
      'a single sign-on was rejected',
    )
    return reply.redirect(`${basePath}/#sign-in-refused=${error.reason}`)
  }

  app.get(
    '/api/auth/oidc/start',
    {
      config: { public: true },
      schema: {
        summary: 'Start single sign-on; redirects the browser to the issuer',
        querystring: z.object({ return_to: z.string().regex(PAGE_PATH).default('/').catch('/') }),
      },
    },
    async (request, reply) => {
      try {
        await limit(request)
        const { url, kept } = await oidc.start(request.query.return_to)
        keep(request, reply, kept)
        return reply.redirect(url)
      } catch (error) {
        return refuse(request, reply, error)
      }
    },
  )

  app.get(
    CALLBACK_PATH,
    {
      config: { public: true },
      schema: {
        summary: 'Finish single sign-on; starts a session and redirects to the page',
        description:
          'The issuer sends the browser here. Only the browser that began the sign-in can finish it.',
      },
    },
    async (request, reply) => {
      const kept = readOidcCookie(request)
      keep(request, reply, null)
      let hasBegun = false
      try {
        await limit(request)
        const query = /\?.*$/s.exec(request.url)?.[0] ?? ''
        const { user, idToken, returnTo } = await oidc.finish(query, kept, request.ip)
        const start = { user, isPage: true, signIn: { by: BY } }
        const { sessionId } = await sessionStart.begin(request, reply, start)
        hasBegun = true
        await oidc.began(sessionId, idToken)
        return reply.redirect(`${basePath}${inAscii(returnTo.replace(/#.*$/s, ''))}#signed-in`)
      } catch (error) {
        if (error instanceof AppError && !hasBegun) {
          const details = { by: BY, reason: error.reason }
          await sessionStart.fail(request, { account: null, details }, BY)
        }
        return refuse(request, reply, error)
      }
    },
  )
}
