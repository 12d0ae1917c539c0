// A document of the page for a server below a path of its host: its addresses begin with the path, and it tells its scripts.
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { acceptsEncoding } from '../accepted-encoding.ts'

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) }
type Encoding = keyof typeof compressors
/** The preferred one first. */
const ENCODINGS: readonly Encoding[] = ['br', 'gzip']

/** The document with the path before its addresses. What it contains inline stays as it is, and so do the hashes of that. */
export const placed = (html: string, basePath: string): string =>
  html
    .replace('<html ', `<html data-base="${basePath}" `)
    .replaceAll(/(<(?:link|script)\b[^>]*?\s(?:href|src)=")\/(?!\/)/g, `$1${basePath}/`)

/** Answers with a document. */
export type DocumentSender = (request: FastifyRequest, reply: FastifyReply) => FastifyReply

/** Compresses the document once, for every request. */
export async function createDocumentSender(html: string): Promise<DocumentSender> {
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
