// Security headers: the content security policy of the page, and no caching of API responses.
import fastifyHelmet from '@fastify/helmet'
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

/** @param options.https the page is served over TLS; enables HSTS. */
export async function registerSecurityHeaders(
  app: App,
  { https }: { https: boolean },
): Promise<void> {
  await app.register(fastifyHelmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        imgSrc: ["'self'", 'data:', 'blob:'],
        // No inline styles either: the build keeps libraries from adding `<style>` elements.
        styleSrc: ["'self'"],
        // Diagrams are drawn in a frame of ours; PDF files are shown by the browser's viewer, from memory.
        frameSrc: ["'self'", 'blob:'],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
        formAction: ["'self'"],
      },
    },
    strictTransportSecurity: https ? { maxAge: 31_536_000, includeSubDomains: false } : false,
    crossOriginEmbedderPolicy: false,
    // Over plain HTTP browsers ignore it, with a warning in the console of every page.
    crossOriginOpenerPolicy: https ? { policy: 'same-origin' } : false,
    crossOriginResourcePolicy: { policy: 'same-origin' },
    referrerPolicy: { policy: 'no-referrer' },
    xFrameOptions: { action: 'deny' },
  })
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('permissions-policy', PERMISSIONS)
    if (API.test(request.url)) void reply.header('cache-control', 'no-store')
  })
}
