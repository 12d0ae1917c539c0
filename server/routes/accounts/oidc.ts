// Routes for single sign-on: redirect the browser to the issuer, and handle its return.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { RecordAudit } from '../../auth/audit-recorder.ts'
import {
  ATTEMPT_LIFETIME_SECONDS,
  CALLBACK_PATH,
  type OidcSignIn,
} from '../../auth/oidc/sign-in.ts'
import { AppError, appError, errorText } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { logFailedSignIn } from '../../http/request-log.ts'
import { oidcCookie, readOidcCookie } from '../../http/session-cookie.ts'
import type { Limits } from '../../lib/limits.ts'
import { browserOf, createSessionStart, type SessionStartDependencies } from './session-start.ts'

/** The dependencies of the routes for single sign-on. */
export interface OidcRouteDependencies extends SessionStartDependencies {
  /** Null: not configured. */
  oidc: OidcSignIn | null
  record: RecordAudit
  limits: Limits
}

const ATTEMPTS = { limit: 60, windowMs: 5 * 60_000 }
/** A path of the page. Excludes everything that a browser could read as another site. */
const PAGE_PATH = /^\/(?![/\\])[^\\\s\p{Cc}]{0,1000}$/u

/** `/api/auth/oidc/…`, for browsers: both redirect, even if something is refused. */
export function registerOidcRoutes(app: App, dependencies: OidcRouteDependencies): void {
  const { oidc, record } = dependencies
  if (oidc === null) return
  const attempts = dependencies.limits.rateLimit('single sign-on', ATTEMPTS)
  const sessionStart = createSessionStart(dependencies)
  const limit = async (request: FastifyRequest): Promise<void> => {
    const retryAfter = await attempts.take(browserOf(request, dependencies).source)
    if (retryAfter !== null) throw appError('sign_ins_exhausted', {}, { retryAfter })
  }
  const keep = (request: FastifyRequest, reply: FastifyReply, kept: string | null): void => {
    const settings = { https: dependencies.https, lifetimeSeconds: ATTEMPT_LIFETIME_SECONDS }
    void reply.header('set-cookie', oidcCookie(request, kept, settings))
  }
  /** Redirects to the sign-in page, which shows the reason. The reason is in the fragment, so no server sees it. */
  const refuse = (request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply => {
    if (!(error instanceof AppError) || error.reason === 'internal') throw error
    request.log.warn(
      { reason: error.reason, cause: errorText(error.cause ?? '') },
      'a single sign-on was rejected',
    )
    return reply.redirect(`/#sign-in-refused=${error.reason}`)
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
      try {
        await limit(request)
        const query = /\?.*$/s.exec(request.url)?.[0] ?? ''
        const { user, idToken, returnTo, events } = await oidc.finish(query, kept, request.ip)
        for (const { action, user: account, details } of events)
          await record({
            action,
            userId: account.id,
            username: account.username,
            address: request.ip,
            details,
          })
        const { sessionId } = await sessionStart.begin(request, reply, { user, isPage: true })
        await oidc.began(sessionId, idToken)
        await recordAttempt(record, request, user)
        return reply.redirect(`${returnTo.replace(/#.*$/s, '')}#signed-in`)
      } catch (error) {
        if (error instanceof AppError) await recordAttempt(record, request, null, error.reason)
        return refuse(request, reply, error)
      }
    },
  )
}

async function recordAttempt(
  record: RecordAudit,
  request: FastifyRequest,
  user: { id: Parameters<RecordAudit>[0]['userId']; username: string } | null,
  reason?: string,
): Promise<void> {
  const by = 'single sign-on'
  if (user === null) logFailedSignIn(request, { account: null, by })
  await record({
    action: user === null ? 'sign_in_failed' : 'sign_in',
    userId: user?.id ?? null,
    username: user?.username ?? null,
    address: request.ip,
    details: { by, ...(reason === undefined ? {} : { reason }) },
  })
}
