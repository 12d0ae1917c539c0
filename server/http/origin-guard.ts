// Which pages may call this server and under which names it answers: CORS for all, and refusal where there is no sign-in.
import fastifyCors from '@fastify/cors'
import type { FastifyRequest } from 'fastify'
import { appError } from '../errors.ts'
import type { App } from './app.ts'

export interface OriginRules {
  /** `single`: requests of other origins and under other names are refused; there is no sign-in that would stop them. */
  mode: 'single' | 'multi'
  /** Origins that may call; without it `publicUrl` and the development server of the page. */
  corsOrigins?: readonly string[]
  publicUrl?: string
  /** Further names (`host` or `host:port`) accepted in the Host header. */
  trustedHosts: readonly string[]
  /** The address that is listened on. */
  listenHost: string
  frontendPort: number
}

/** Registers CORS, and in single mode the 403 for foreign origins and names. */
export async function registerOriginGuard(app: App, rules: OriginRules): Promise<void> {
  const origins = allowedOrigins(rules)
  const isAllowed = ({ headers: { origin, host } }: FastifyRequest): boolean =>
    origin !== undefined && (origins.has(origin) || isSameOrigin(origin, host))

  if (rules.mode === 'single')
    app.addHook('onRequest', async (request) => {
      if (!isAcceptedHost(request.headers.host, rules)) throw appError('host_refused')
      if (request.headers.origin !== undefined && !isAllowed(request))
        throw appError('origin_refused')
    })
  await app.register(fastifyCors, () => async (request: FastifyRequest) => ({
    origin: isAllowed(request),
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: ['authorization', 'content-type', 'last-event-id'],
    exposedHeaders: ['retry-after', 'content-disposition', 'x-request-id'],
    maxAge: 600,
  }))
}

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

/** The page that this server itself gave out; the scheme may differ behind a proxy that ends TLS. */
function isSameOrigin(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false
  const { protocol, host: originHost } = new URL(origin)
  return (protocol === 'http:' || protocol === 'https:') && originHost === host.toLowerCase()
}

/** Whether a Host header names this machine or something that the operator configured. */
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
