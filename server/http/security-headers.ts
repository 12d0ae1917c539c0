// Security headers: the content security policy of the page, and no caching of API responses.
import type { App } from './app.ts'

const API = /^\/(api|v1|mcp|s|healthz|readyz|metrics|openapi\.json)(\/|\?|$)/

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
  // Our own frame draws diagrams. The browser's viewer shows PDF files from memory.
  "frame-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "form-action 'self'",
].join(';')

/** OWASP's recommendations (https://owasp.org/www-project-secure-headers/), for every response. */
const HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'permissions-policy': PERMISSIONS,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-frame-options': 'DENY',
  'x-permitted-cross-domain-policies': 'none',
  // The filters of old browsers could be abused.
  'x-xss-protection': '0',
}

/** Browsers ignore these over plain HTTP, the second one with a warning in the console of every page. */
const HTTPS_HEADERS = {
  'strict-transport-security': 'max-age=31536000',
  'cross-origin-opener-policy': 'same-origin',
}

/** @param options.https the page is served over TLS; enables HSTS. */
export function registerSecurityHeaders(app: App, { https }: { https: boolean }): void {
  const headers = https ? { ...HEADERS, ...HTTPS_HEADERS } : HEADERS
  const ofApi = { ...headers, 'cache-control': 'no-store' }
  app.addHook('onRequest', (request, reply, next) => {
    void reply.headers(API.test(request.url) ? ofApi : headers)
    next()
  })
}
