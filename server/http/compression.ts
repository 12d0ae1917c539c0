// Compresses larger JSON responses: on a slow connection, the messages of a conversation are the largest of the page's requests.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { acceptsEncoding } from './accepted-encoding.ts'

const compress = promisify(gzip)
/** Below it, the response fits in one or two packets anyway, and compressing it would only take time. */
const MIN_CHARACTERS = 2048
const LEVEL = 4

/**
 * Register it after all other `onSend` hooks, which read and change the text. Streams, and thus events, files and spooled
 * responses, stay as they are.
 *
 * The length of a compressed response tells whether parts of it are equal (BREACH, https://breachattack.com). The attack needs
 * a secret and the attacker's guess in one response, which another site makes the browser request again and again. The cookies
 * of sign-ins are sent to `/api/auth` only, so that path is left out: everything else needs an `Authorization` header, which
 * other sites cannot send. Without accounts there is none, but a guess would have to be stored first, as text of a
 * conversation. Responses to `POST`, which hand out new keys, are left out as well.
 */
export function compressJson(app: Pick<FastifyInstance, 'addHook'>): void {
  app.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string' || !isCompressible(request, reply, payload)) return payload
    addToVary(reply)
    if (!acceptsEncoding(request.headers['accept-encoding'], 'gzip')) return payload
    const compressed = await compress(payload, { level: LEVEL })
    void reply.removeHeader('content-length').header('content-encoding', 'gzip')
    return compressed
  })
}

/** A response with an `ETag` names these exact bytes, so it stays as it is. */
const isCompressible = (request: FastifyRequest, reply: FastifyReply, payload: string): boolean =>
  request.method === 'GET' &&
  reply.statusCode === 200 &&
  payload.length >= MIN_CHARACTERS &&
  !request.url.startsWith('/api/auth') &&
  String(reply.getHeader('content-type')).startsWith('application/json') &&
  !reply.hasHeader('etag') &&
  !reply.hasHeader('content-encoding')

function addToVary(reply: FastifyReply): void {
  const before = reply.getHeader('vary')
  void reply.header('vary', before === undefined ? 'Accept-Encoding' : `${before}, Accept-Encoding`)
}
