// The cookies of sign-ins, which scripts cannot read: the page's refresh token, a single sign-on in progress, and the accounts used in this browser.
import type { FastifyRequest } from 'fastify'
import { appError } from '../errors.ts'
import { isSameOrigin } from './origin-guard.ts'

interface CookieSettings {
  https: boolean
  lifetimeSeconds: number
  /** The path below which browsers see the server. */
  basePath: string
}

type CookieKind = 'session' | 'oidc' | 'known'

/** Cookies do not know ports, so two servers on one host need different names. */
function nameFor({ headers }: FastifyRequest, kind: CookieKind): string {
  const port = /:(\d{1,5})$/.exec(headers.host ?? '')?.[1]
  return `nanoclaw_${kind}${port === undefined ? '' : `_${port}`}`
}

function readCookie(request: FastifyRequest, kind: CookieKind): string | undefined {
  const start = `${nameFor(request, kind)}=`
  const pair = (request.headers.cookie ?? '')
    .split(';')
    .map((text) => text.trim())
    .find((text) => text.startsWith(start))
  return pair?.slice(start.length)
}

function cookie(
  request: FastifyRequest,
  {
    name,
    value,
    path,
    sameSite,
  }: { name: string; value: string | null; path: string; sameSite: string },
  { https, lifetimeSeconds, basePath }: CookieSettings,
): string {
  const age = value === null ? 0 : lifetimeSeconds
  const secure = https || request.protocol === 'https' ? '; Secure' : ''
  return `${name}=${value ?? ''}; Path=${basePath}${path}; Max-Age=${age}; HttpOnly; SameSite=${sameSite}${secure}`
}

/** The refresh token that the browser sent. */
export const readSessionCookie = (request: FastifyRequest): string | undefined =>
  readCookie(request, 'session')

/** The `Set-Cookie` that stores a refresh token; null removes it. */
export const sessionCookie = (
  request: FastifyRequest,
  value: string | null,
  settings: CookieSettings,
): string =>
  cookie(
    request,
    { name: nameFor(request, 'session'), value, path: '/api/auth', sameSite: 'Strict' },
    settings,
  )

/** What the browser keeps of a single sign-on that it began; undefined if there is none. */
export const readOidcCookie = (request: FastifyRequest): string | undefined =>
  readCookie(request, 'oidc')

/** The `Set-Cookie` that stores it; null removes it. `Lax`, because the issuer's page leads back here. */
export const oidcCookie = (
  request: FastifyRequest,
  value: string | null,
  settings: CookieSettings,
): string =>
  cookie(
    request,
    { name: nameFor(request, 'oidc'), value, path: '/api/auth/oidc', sameSite: 'Lax' },
    settings,
  )

/** What the browser keeps about the accounts that were used in it; undefined if there is nothing. */
export const readKnownCookie = (request: FastifyRequest): string | undefined =>
  readCookie(request, 'known')

/** The `Set-Cookie` that stores it. `Lax`, because a single sign-on returns from another site. */
export const knownCookie = (
  request: FastifyRequest,
  value: string,
  settings: CookieSettings,
): string =>
  cookie(
    request,
    { name: nameFor(request, 'known'), value, path: '/api/auth', sameSite: 'Lax' },
    settings,
  )

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
