// Serves the built page: hashed assets are cached forever, everything else is revalidated, and paths of views get index.html.

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import fastifyStatic from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { acceptsEncoding } from '../accepted-encoding.ts'
import type { App } from '../app.ts'

// A document of the page for a server below a path of its host: its addresses begin with the path, and it tells its scripts.

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) }
type Encoding = keyof typeof compressors
/** The preferred one first. */
const ENCODINGS: readonly Encoding[] = ['br', 'gzip']

/** The document with the path before its addresses. What it contains inline stays as it is, and so do the hashes of that. */
const placed = (html: string, basePath: string): string =>
  html
    .replace('<html ', `<html data-base="${basePath}" `)
    .replaceAll(/(<(?:link|script)\b[^>]*?\s(?:href|src)=")\/(?!\/)/g, `$1${basePath}/`)

/** Answers with a document. */
type DocumentSender = (request: FastifyRequest, reply: FastifyReply) => FastifyReply

/** Compresses the document once, for every request. */
async function createDocumentSender(html: string): Promise<DocumentSender> {
  const content = Buffer.from(html)
  const etag = `"${createHash('sha256').update(content).digest('base64url')}"`
  const compressed = new Map<Encoding, Buffer>()
  for (const encoding of ENCODINGS) compressed.set(encoding, await compressors[encoding](content))
  return (request, reply) => {
    void reply.type('text/html; charset=utf-8').headers({ etag, vary: 'Accept-Encoding' })
    if (request.headers['if-none-match'] === etag) return reply.code(304).send()
    const encoding = ENCODINGS.find((each) =>
      acceptsEncoding(request.headers['accept-encoding'], each),
    )
    const body = encoding === undefined ? content : (compressed.get(encoding) ?? content)
    if (encoding !== undefined) void reply.header('content-encoding', encoding)
    return reply.send(body)
  }
}

const YEAR_SECONDS = 31_536_000
const NOT_BUILT = `<!doctype html><meta charset="utf-8"><title>NanoClaw</title>
<p>The API is running, but the page is not built. Run <code>npm run build</code> and start again.</p>`

/**
 * Whether a path without a route is no view of the page either: those of the server's own routes, and those of metadata (RFC 8615),
 * which MCP clients look for also behind the path that they call. A page there would be read as metadata.
 */
const isNeverPage = (path: string): boolean =>
  /^(api|v1|mcp|hooks|docs|s|a)(\/|$)|(^|\/)\.well-known(\/|$)/.test(path)

/** The frame that draws diagrams: only scripts of this server, and only within the page's own windows. */
const DIAGRAM_FRAME = 'diagram.html'

/** WebKit takes `'self'` for the frame's own origin, which it does not have, so the policy also names the server. */
function diagramPolicy(host: string): string {
  const server = /^[\w.:[\]-]+$/.test(host) ? ` http://${host}` : '' // HTTPS on the same host counts as well
  return `default-src 'none'; script-src 'self'${server}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts`
}

/** The hashes of everything that the build inlined into index.html, as sources for the content security policy. */
function inlineSources(html: string, element: 'script' | 'style'): string {
  return [...html.matchAll(new RegExp(`<${element}>([^<]*)</${element}>`, 'g'))]
    .map(([, text = '']) => ` 'sha256-${createHash('sha256').update(text).digest('base64')}'`)
    .join('')
}

/** Adds the page's inline scripts and styles to `policy`, the policy of every response. */
function pagePolicy(policy: string, html: string): string {
  const styles = `style-src 'self'${inlineSources(html, 'style')}`
  return `${policy.replace("style-src 'self'", styles)};script-src 'self'${inlineSources(html, 'script')}`
}

declare module 'fastify' {
  interface FastifyReply {
    /** Sends the document of the page, for a route that is also a view of it. */
    sendWebPage(): Promise<FastifyReply>
  }
}

/**
 * Serves `root`, the folder of the built page. If it is missing, serves a notice that says how to build it.
 * @param options.hasAccounts serves the document that shows no message field until the user is signed in.
 * @param options.basePath the path below which browsers see the server.
 */
export async function registerWebApp(
  app: App,
  root: string,
  { hasAccounts, basePath }: { hasAccounts: boolean; basePath: string },
): Promise<void> {
  const page =
    hasAccounts && existsSync(join(root, 'accounts.html')) ? 'accounts.html' : 'index.html'
  const isBuilt = existsSync(join(root, 'index.html'))
  const html = isBuilt ? await readFile(join(root, page), 'utf8') : ''
  if (isBuilt)
    await app.register(fastifyStatic, {
      root,
      serve: false,
      preCompressed: true,
      dotfiles: 'deny',
      cacheControl: false,
    })
  async function sendDocument(reply: FastifyReply): Promise<FastifyReply> {
    if (!isBuilt) return reply.type('text/html; charset=utf-8').send(NOT_BUILT)
    const policy = String(reply.getHeader('content-security-policy'))
    void reply.header('content-security-policy', pagePolicy(policy, html))
    return sendHtml(page, reply)
  }
  /** Sends a document as it was built, or placed below the path of the server. */
  function sendHtml(name: string, reply: FastifyReply): FastifyReply {
    const send = placedDocuments.get(name)
    return send === undefined ? reply.sendFile(name) : send(reply.request, reply)
  }
  const placedDocuments = new Map<string, DocumentSender>()
  if (isBuilt && basePath !== '')
    for (const name of [page, DIAGRAM_FRAME]) {
      const built = await readFile(join(root, name), 'utf8')
      placedDocuments.set(name, await createDocumentSender(placed(built, basePath)))
    }
  app.decorateReply('sendWebPage', function sendWebPage(this: FastifyReply) {
    return sendDocument(this)
  })
  app.get('/*', { schema: { hide: true } }, async (request, reply) => {
    const path = request.url.split('?')[0]?.slice(1) ?? ''
    if (isNeverPage(decodeURIComponent(path))) {
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
    const isPage = !isFile || path === 'index.html' || path === 'accounts.html'
    return isPage ? await sendDocument(reply) : sendHtml(decodeURIComponent(path), reply)
  })
}
