// Idempotency-Key: a POST that is repeated with the same key does its work once and receives the same response.
import { createHash, type Hash } from 'node:crypto'
import type { MultipartFile, MultipartValue } from '@fastify/multipart'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { appError } from '../errors.ts'
import type { RunId, UserId } from '../protocol/ids.ts'
import type { App } from './app.ts'

/** A request that took a key before. */
export interface EarlierRequest {
  fingerprint: string
  state: 'pending' | 'finished'
  status: number | null
  /** Null if it was too large to store. */
  body: string | null
  runId: RunId | null
}

type Key = { userId: UserId; key: string }

/** Where keys are stored. */
export interface IdempotencyKeys {
  /** Takes the key. Resolves to null if it was free, otherwise to the request that took it. */
  claim(key: Key, fingerprint: string): Promise<EarlierRequest | null>
  /** @param response.fingerprint replaces that of the claim, once the body of an upload is known. */
  finish(
    key: Key,
    response: { status: number; body: string | null; fingerprint?: string },
  ): Promise<void>
  bindRun(key: Key, runId: RunId): Promise<void>
  release(key: Key): Promise<void>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The response is that of a run: a repeated request receives the run in `idempotentRunId` and joins it. */
    joinsRun?: boolean
    /** The response holds a secret that is stored nowhere: a key has no effect. */
    holdsSecret?: boolean
    /** Of a multipart body, the route reads the first file and what is before it. */
    oneFile?: boolean
  }
  interface FastifyRequest {
    /** The run that an earlier request with the same Idempotency-Key started. */
    idempotentRunId: RunId | null
    /** Call it with the run that the request started, before the response. */
    bindRun(runId: RunId): Promise<void>
    /** The parts of a multipart body, which count as the content of the request. */
    recordedParts(): UploadParts
  }
}

/** The parts of a multipart body, in the order in which they arrive. Reads them once. */
export type UploadParts = AsyncIterableIterator<MultipartFile | MultipartValue>

const HEADER = 'idempotency-key'
/** The header of a response that repeats an earlier one. */
export const REPLAYED = 'idempotency-replayed'
const MAX_KEY_CHARACTERS = 255
/** Larger responses are not stored. A repeated request is then refused, so that the work is not done twice. */
const MAX_BODY_CHARACTERS = 256_000

/** Register it after authentication and before the routes. Applies to every POST of a signed-in user. */
export function registerIdempotency(app: App, keys: IdempotencyKeys): void {
  const held = new WeakMap<FastifyRequest, Key>()
  const contents = new WeakMap<FastifyRequest, PartHash[]>()
  app.decorateRequest('idempotentRunId', null)
  app.decorateRequest('bindRun', async function bindRun(this: FastifyRequest, runId) {
    const key = held.get(this)
    if (key === undefined) return
    held.delete(this)
    await keys.bindRun(key, runId)
  })

  app.decorateRequest('recordedParts', function recordedParts(this: FastifyRequest) {
    const parts = this.parts(WITH_PATHS)
    if (!held.has(this)) return parts
    const seen: PartHash[] = []
    contents.set(this, seen)
    return recorded(parts, seen)
  })

  app.addHook('preHandler', async (request, reply) => {
    const header = request.headers[HEADER]
    const { config } = request.routeOptions
    if (request.method !== 'POST' || header === undefined || config.public === true) return
    if (config.holdsSecret === true) return
    if (typeof header !== 'string' || header === '' || header.length > MAX_KEY_CHARACTERS)
      throw appError('idempotency_key_invalid', { limit: MAX_KEY_CHARACTERS })
    const key = { userId: request.user.id, key: header }
    const fingerprint = fingerprintOf(request)
    const earlier = await keys.claim(key, fingerprint)
    if (earlier === null) {
      held.set(request, key)
      return
    }
    const [ofRequest, ofContent] = earlier.fingerprint.split('.')
    if (ofRequest !== fingerprint) throw appError('idempotency_key_reused')
    if (earlier.state === 'pending') throw appError('idempotency_pending', {}, { retryAfter: 1 })
    if (ofContent !== undefined && ofContent !== (await contentOf(request)))
      throw appError('idempotency_key_reused')
    void reply.header(REPLAYED, 'true')
    if (earlier.runId !== null && config.joinsRun === true) {
      request.idempotentRunId = earlier.runId
      return
    }
    if (earlier.status === null || earlier.body === null) throw appError('idempotency_body_gone')
    return reply
      .code(earlier.status)
      .type('application/json; charset=utf-8')
      .serializer(String)
      .send(earlier.body)
  })

  app.addHook('onSend', async (request, reply, payload) => {
    const key = held.get(request)
    if (key === undefined) return payload
    held.delete(request)
    await settle(key, request, reply, payload)
    return payload
  })
  // A response that Fastify does not send has no `onSend`, so it cannot be replayed.
  app.addHook('onResponse', async (request) => {
    const key = held.get(request)
    if (key !== undefined) await keys.release(key)
  })

  async function settle(
    key: Key,
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
  ): Promise<void> {
    if (reply.statusCode >= 300) return await keys.release(key)
    const isStored = typeof payload === 'string' && payload.length <= MAX_BODY_CHARACTERS
    const parts = contents.get(request)
    await keys.finish(key, {
      status: reply.statusCode,
      body: isStored ? payload : null,
      ...(parts === undefined
        ? {}
        : { fingerprint: `${fingerprintOf(request)}.${hashOfParts(parts)}` }),
    })
  }
}

/** File names keep their folders. */
const WITH_PATHS = { preservePath: true }

/** One part of a multipart body: its names, and its content as far as it has arrived. */
interface PartHash {
  label: string
  content: Hash
}

/** Passes the parts on and hashes what arrives of them. */
async function* recorded(parts: UploadParts, seen: PartHash[]): UploadParts {
  for await (const part of parts) {
    const content = createHash('sha256')
    const name = part.type === 'file' ? part.filename : ''
    seen.push({ label: JSON.stringify([part.type, part.fieldname, name]), content })
    if (part.type === 'file') {
      const { file } = part
      const push = file.push.bind(file)
      // What has arrived already is looked at and put back.
      const early: unknown = file.read()
      if (Buffer.isBuffer(early)) {
        content.update(early)
        file.unshift(early)
      }
      // A second reader of the stream would take pieces from the first: its pieces are seen where the parser adds them.
      file.push = (piece: Buffer | null, encoding?: BufferEncoding): boolean => {
        if (piece !== null) content.update(piece)
        return push(piece, encoding)
      }
    } else content.update(String(part.value))
    yield part
  }
}

const hashOfParts = (parts: readonly PartHash[]): string => {
  const hash = createHash('sha256')
  for (const { label, content } of parts) hash.update(`${label}${content.copy().digest('hex')}`)
  return hash.digest('base64url')
}

/** The hash of the body of a repeated upload, which is read for nothing else. */
async function contentOf(request: FastifyRequest): Promise<string> {
  const seen: PartHash[] = []
  for await (const part of recorded(request.parts(WITH_PATHS), seen)) {
    if (part.type !== 'file') continue
    for await (const _piece of part.file);
    if (request.routeOptions.config.oneFile === true) break
  }
  return hashOfParts(seen)
}

/** Of the request without the content of an upload, which its route reads. Boundaries differ, so sizes say nothing. */
const fingerprintOf = (request: FastifyRequest): string =>
  createHash('sha256')
    .update(`${request.url}\n\n`)
    .update(JSON.stringify(request.body ?? null))
    .digest('base64url')

/**
 * Starts a run with `start`, or returns the one that an earlier request with the same key started. For routes with
 * `config.joinsRun`.
 */
export async function startOnce<Run extends { id: RunId }>(
  request: Pick<FastifyRequest, 'idempotentRunId' | 'bindRun' | 'user'>,
  runs: { findOwned(userId: UserId, id: RunId): Promise<Run | undefined> },
  start: () => Promise<Run>,
): Promise<Run> {
  if (request.idempotentRunId === null) {
    const run = await start()
    await request.bindRun(run.id)
    return run
  }
  const run = await runs.findOwned(request.user.id, request.idempotentRunId)
  // Its conversation was deleted meanwhile.
  if (run === undefined) throw appError('idempotency_body_gone')
  return run
}
