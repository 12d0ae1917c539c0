// Serves the built page: hashed assets are cached forever, everything else is revalidated, and paths of views get index.html.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { App } from './app.ts'

const YEAR_SECONDS = 31_536_000
const NOT_BUILT = `<!doctype html><meta charset="utf-8"><title>NanoClaw</title>
<p>The API is running, but the page is not built. Run <code>npm run build</code> and start again.</p>`

/** The frame that draws diagrams: scripts of ours and nothing else, in the page's own windows only. */
const DIAGRAM_FRAME = 'diagram.html'

/** WebKit takes `'self'` for the frame's own origin, which it does not have, so the server is named too. */
function diagramPolicy(host: string): string {
  const server = /^[\w.:[\]-]+$/.test(host) ? ` http://${host}` : '' // HTTPS on the same host counts as well
  return `default-src 'none'; script-src 'self'${server}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts`
}

/** Serves `root`, the folder of the built page. If it is missing, serves a notice that says how to build it. */
export async function registerWebApp(app: App, root: string): Promise<void> {
  const isBuilt = existsSync(join(root, 'index.html'))
  if (isBuilt)
    await app.register(fastifyStatic, {
      root,
      serve: false,
      preCompressed: true,
      dotfiles: 'deny',
      cacheControl: false,
    })
  app.get('/*', { schema: { hide: true } }, async (request, reply) => {
    const path = request.url.split('?')[0]?.slice(1) ?? ''
    if (/^(api|v1|docs)(\/|$)/.test(path)) {
      reply.callNotFound()
      return reply
    }
    if (!isBuilt) return reply.type('text/html; charset=utf-8').send(NOT_BUILT)
    if (path === DIAGRAM_FRAME)
      void reply
        .header('content-security-policy', diagramPolicy(request.host))
        .header('x-frame-options', 'SAMEORIGIN')
    const isFile = /\.[A-Za-z0-9]+$/.test(path)
    void reply.header(
      'cache-control',
      path.startsWith('assets/') ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache',
    )
    return reply.sendFile(isFile ? decodeURIComponent(path) : 'index.html')
  })
}
