// Security headers: the content security policy of the page, few headers for its files, and no caching of API responses.
import type { FastifyRequest } from 'fastify'
import type { App } from '../app.ts'

/**
 * Scripts, styles and fonts of the page that never become a document. Workers are not among them: they have the policy of
 * their own file, so the build puts them into a folder of their own (`web/vite.config.ts`).
 */
const SUBRESOURCE = /^\/assets\/(?!workers\/)[\w./-]+\.(m?js|css|woff2?|ttf)$/

const API = /^\/(api|v1|mcp|s|a|healthz|readyz|metrics|openapi\.json)(\/|\?|$)/

/** Device features that the page and its frames may use. */
const PERMISSIONS = [
  ...['microphone', 'publickey-credentials-create', 'publickey-credentials-get'].map(
    (name) => `${name}=(self)`,
  ),
  ...['accelerometer', 'camera', 'display-capture', 'geolocation', 'gyroscope', 'hid'],
  ...['magnetometer', 'midi', 'payment', 'serial', 'usb', 'xr-spatial-tracking'],
]
  .map((entry) => (entry.includes('=') ? entry : `${entry}=()`))
  .join(', ')

/**
 * The page may load nothing from other hosts, and no inline scripts or styles. The build prevents libraries from adding
 * `<style>`.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "img-src 'self' data: blob:",
  "style-src 'self'",
  // Texts that a service reads aloud are played from memory.
  "media-src 'self' blob:",
  // Our own frame draws diagrams. The browser's viewer shows PDF files from memory. The origin of apps comes behind.
  "frame-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "form-action 'self'",
].join(';')

/** What applies to every response, also to one that another document embeds. */
const SUBRESOURCE_HEADERS = {
  'cross-origin-resource-policy': 'same-origin',
  // A stylesheet requests fonts, and a script others, with the policy of its own response.
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** OWASP's recommendations (https://owasp.org/www-project-secure-headers/), for every other response. */
const HEADERS = {
  ...SUBRESOURCE_HEADERS,
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'origin-agent-cluster': '?1',
  'permissions-policy': PERMISSIONS,
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-frame-options': 'DENY',
  'x-permitted-cross-domain-policies': 'none',
  // The filters of old browsers could be abused.
  'x-xss-protection': '0',
}

/** Browsers ignore these over plain HTTP, the second one with a warning in the console of every page. */
const TRANSPORT_SECURITY = { 'strict-transport-security': 'max-age=31536000' }
const OPENER_POLICY = { 'cross-origin-opener-policy': 'same-origin' }

/**
 * @param options.https the page is served over TLS; enables HSTS.
 * @param options.frameOrigin the origin of apps, which the page may frame; null for none.
 */
export function registerSecurityHeaders(
  app: App,
  { https, frameOrigin }: { https: boolean; frameOrigin(request: FastifyRequest): string | null },
): void {
  const headers = https ? { ...HEADERS, ...TRANSPORT_SECURITY, ...OPENER_POLICY } : HEADERS
  const ofApi = { ...headers, 'cache-control': 'no-store' }
  const ofSubresource = https
    ? { ...SUBRESOURCE_HEADERS, ...TRANSPORT_SECURITY }
    : SUBRESOURCE_HEADERS
  const headersFor = (request: FastifyRequest) => {
    const { url } = request
    if (SUBRESOURCE.test(url)) return ofSubresource
    if (API.test(url)) return ofApi
    const frames = frameOrigin(request)
    if (frames === null) return headers
    // No wider: a frame can navigate only to what the page may frame, so an app cannot leave its origin.
    const policy = CONTENT_SECURITY_POLICY.replace("frame-src 'self' blob:", `$& ${frames}`)
    return { ...headers, 'content-security-policy': policy }
  }
  app.addHook('onRequest', (request, reply, next) => {
    void reply.headers(headersFor(request))
    next()
  })
}
