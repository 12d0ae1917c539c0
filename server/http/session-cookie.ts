// The cookie with the page's refresh token: not readable by scripts, sent to the account routes of this site only.
import type { FastifyRequest } from 'fastify'
import { appError } from '../errors.ts'
import { isSameOrigin } from './origin-guard.ts'

const PATH = '/api/auth'

/** Cookies do not know ports, so two servers on one host need different names. */
function nameFor({ headers }: FastifyRequest): string {
  const port = /:(\d{1,5})$/.exec(headers.host ?? '')?.[1]
  return port === undefined ? 'nanoclaw_session' : `nanoclaw_session_${port}`
}

/** The refresh token that the browser sent. */
export function readSessionCookie(request: FastifyRequest): string | undefined {
  const start = `${nameFor(request)}=`
  const pair = (request.headers.cookie ?? '')
    .split(';')
    .map((text) => text.trim())
    .find((text) => text.startsWith(start))
  return pair?.slice(start.length)
}

/** The `Set-Cookie` that stores a refresh token; null removes it. */
export function sessionCookie(
  request: FastifyRequest,
  token: string | null,
  { https, lifetimeSeconds }: { https: boolean; lifetimeSeconds: number },
): string {
  const age = token === null ? 0 : lifetimeSeconds
  const secure = https || request.protocol === 'https' ? '; Secure' : ''
  return `${nameFor(request)}=${token ?? ''}; Path=${PATH}; Max-Age=${age}; HttpOnly; SameSite=Strict${secure}`
}

/**
 * Refuses a request that a page of another origin caused. `SameSite` already keeps the cookie from other sites; this adds
 * other ports and subdomains of the same site. @throws AppError `origin_refused`.
 */
export function assertSameOrigin({ headers }: FastifyRequest): void {
  // Browsers send it over HTTPS and to this machine only. It also covers the development server, which is a proxy.
  const site = headers['sec-fetch-site']
  const isOwn =
    site === undefined
      ? headers.origin === undefined || isSameOrigin(headers.origin, headers.host)
      : site === 'same-origin' || site === 'none'
  if (!isOwn) throw appError('origin_refused')
}
