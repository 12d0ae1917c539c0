// Controls which origins and host names may use this server: CORS always, and a 403 for others in single-user mode.
import fastifyCors from '@fastify/cors'
import type { FastifyRequest } from 'fastify'
import { appError } from '../errors.ts'
import type { App } from './app.ts'

/** Which origins may send requests from a browser. */
export interface OriginRules {
  /** `single`: rejects requests from other origins and host names, because no sign-in would stop them. */
  mode: 'single' | 'multi'
  /** Allowed origins. Default: `publicUrl` and the development server of the page. */
  corsOrigins?: readonly string[]
  publicUrl?: string
  /** Additional names (`host` or `host:port`) accepted in the Host header. */
  trustedHosts: readonly string[]
  /** The address the server listens on. */
  listenHost: string
  frontendPort: number
  /** The origin of apps for this request, which may never call; null if there is none. */
  appsOrigin(request: FastifyRequest): string | null
}

/** What scripts of allowed origins may read of responses of the API. */
const EXPOSED_HEADERS = [
  'retry-after',
  'content-disposition',
  'x-request-id',
  'idempotency-replayed',
  'x-nanoclaw-run-id',
]

/** Paths of the interfaces for programs. Forms of the server's own pages send no origin: their pages send no referrer. */
const INTERFACES = /^\/(?:api|v1|mcp)(?:[/?]|$)/

/** Registers CORS and the 403: in single-user mode for other origins and host names, else for documents of apps. */
export async function registerOriginGuard(app: App, rules: OriginRules): Promise<void> {
  const origins = allowedOrigins(rules)
  const isAllowed = (request: FastifyRequest): boolean => {
    const { origin, host } = request.headers
    return (
      origin !== undefined &&
      (origins.has(origin) || isSameOrigin(origin, host)) &&
      origin !== rules.appsOrigin(request)
    )
  }

  /** Cached, because nearly every request names the same host. */
  let accepted: string | undefined
  if (rules.mode === 'single')
    app.addHook('onRequest', async (request) => {
      const { host } = request.headers
      if (host === undefined || host !== accepted) {
        if (!isAcceptedHost(host, rules)) throw appError('host_refused')
        accepted = host
      }
      if (request.headers.origin !== undefined && !isAllowed(request) && !isAsset(request))
        throw appError('origin_refused')
    })
  // Documents without an origin are those of apps. A token that one has got hold of must not be used from there.
  else
    app.addHook('onRequest', async (request) => {
      const { origin } = request.headers
      if (origin === undefined || !INTERFACES.test(request.url)) return
      if (origin === 'null' || origin === rules.appsOrigin(request))
        throw appError('origin_refused')
    })
  await app.register(fastifyCors, () => async (request: FastifyRequest) => ({
    origin: isAsset(request) ? '*' : isAllowed(request),
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    // Without `allowedHeaders`, those that the browser asks for are allowed: packages send many, and the origin is checked.
    ...(isAsset(request) ? {} : { exposedHeaders: EXPOSED_HEADERS }),
    maxAge: 600,
  }))
}

/** The page's own scripts are public. The frame that draws diagrams has no origin (`null`) and loads them. */
const isAsset = ({ method, url }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') && url.startsWith('/assets/')

function allowedOrigins({
  corsOrigins,
  publicUrl,
  frontendPort,
}: OriginRules): ReadonlySet<string> {
  if (corsOrigins !== undefined) return new Set(corsOrigins)
  return new Set([
    ...(publicUrl === undefined ? [] : [new URL(publicUrl).origin]),
    `http://localhost:${frontendPort}`,
    `http://127.0.0.1:${frontendPort}`,
  ])
}

/**
 * Whether the origin is that of the page that this server serves. The scheme differs behind a proxy that terminates TLS.
 */
export function isSameOrigin(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false
  const { protocol, host: originHost } = new URL(origin)
  return (protocol === 'http:' || protocol === 'https:') && originHost === host.toLowerCase()
}

/** Whether a Host header names this machine or a configured host. */
export function isAcceptedHost(header: string | undefined, rules: OriginRules): boolean {
  if (header === undefined || !URL.canParse(`http://${header}`)) return false
  const { hostname, host, username, pathname } = new URL(`http://${header}`)
  if (username !== '' || pathname !== '/') return false
  if (/^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname) || hostname.endsWith('.localhost'))
    return true
  const configured = [
    ...rules.trustedHosts,
    rules.listenHost,
    ...(rules.publicUrl === undefined ? [] : [new URL(rules.publicUrl).host]),
  ].map((name) => name.toLowerCase())
  return configured.some(
    (name) => name === host || name === hostname || name === header.toLowerCase(),
  )
}
