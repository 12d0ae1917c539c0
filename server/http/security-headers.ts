// Headers of every response: what the page may load, and that API responses are never cached.
import fastifyHelmet from '@fastify/helmet'
import type { App } from './app.ts'

const API = /^\/(api|v1|healthz|readyz|metrics|openapi\.json)(\/|\?|$)/

/** Registers the content security policy and related headers. `https`: the page is served over TLS. */
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
        styleSrc: ["'self'", "'unsafe-inline'"],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
        formAction: ["'self'"],
      },
    },
    strictTransportSecurity: https ? { maxAge: 31_536_000, includeSubDomains: false } : false,
    crossOriginEmbedderPolicy: false,
    referrerPolicy: { policy: 'no-referrer' },
    xFrameOptions: { action: 'deny' },
  })
  app.addHook('onRequest', async (request, reply) => {
    if (API.test(request.url)) void reply.header('cache-control', 'no-store')
  })
}
