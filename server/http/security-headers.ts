// Security headers: the content security policy of the page, and no caching of API responses.
import type { App } from './app.ts'

const API = /^\/(api|v1|mcp|s|healthz|readyz|metrics|openapi\.json)(\/|\?|$)/

/** What the page and frames in it may use of the device. */
const PERMISSIONS = [
  ...['microphone', 'publickey-credentials-create', 'publickey-credentials-get'].map(
    (name) => `${name}=(self)`,
  ),
  ...['accelerometer', 'camera', 'display-capture', 'geolocation', 'gyroscope', 'hid'],
  ...['magnetometer', 'midi', 'payment', 'serial', 'usb', 'xr-spatial-tracking'],
]
  .map((entry) => (entry.includes('=') ? entry : `${entry}=()`))
  .join(', ')

/** The page may load nothing of other hosts, and no inline scripts or styles: the build keeps libraries from adding `<style>`. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "img-src 'self' data: blob:",
  "style-src 'self'",
  // Diagrams are drawn in a frame of ours; PDF files are shown by the browser's viewer, from memory.
  "frame-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "form-action 'self'",
].join(';')

/** What OWASP recommends (https://owasp.org/www-project-secure-headers/), for every response. */
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

/** Over plain HTTP browsers ignore them, the second with a warning in the console of every page. */
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
