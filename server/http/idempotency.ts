// Idempotency-Key: a POST that is repeated with the same key does its work once and receives the same response.
import { createHash } from 'node:crypto'
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
  finish(key: Key, response: { status: number; body: string | null }): Promise<void>
  bindRun(key: Key, runId: RunId): Promise<void>
  release(key: Key): Promise<void>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The response is that of a run: a repeated request receives the run in `idempotentRunId` and joins it. */
    joinsRun?: boolean
  }
  interface FastifyRequest {
    /** The run that an earlier request with the same Idempotency-Key started. */
    idempotentRunId: RunId | null
    /** Call it with the run that the request started, before the response. */
    bindRun(runId: RunId): Promise<void>
  }
}

const HEADER = 'idempotency-key'
/** The header of a response that repeats an earlier one. */
export const REPLAYED = 'idempotency-replayed'
const MAX_KEY_CHARACTERS = 255
/** Larger responses are not stored. A repeated request is then refused, so that the work is not done twice. */
const MAX_BODY_CHARACTERS = 256_000

/** Register it after authentication and before the routes. Applies to every POST of a signed-in user. */
export function registerIdempotency(app: App, keys: IdempotencyKeys): void {
  const held = new WeakMap<FastifyRequest, Key>()
  app.decorateRequest('idempotentRunId', null)
  app.decorateRequest('bindRun', async function bindRun(this: FastifyRequest, runId) {
    const key = held.get(this)
    if (key === undefined) return
    held.delete(this)
    await keys.bindRun(key, runId)
  })

  app.addHook('preHandler', async (request, reply) => {
    const header = request.headers[HEADER]
    const { config } = request.routeOptions
    if (request.method !== 'POST' || header === undefined || config.public === true) return
    if (typeof header !== 'string' || header === '' || header.length > MAX_KEY_CHARACTERS)
      throw appError('idempotency_key_invalid', { limit: MAX_KEY_CHARACTERS })
    const key = { userId: request.user.id, key: header }
    const fingerprint = fingerprintOf(request)
    const earlier = await keys.claim(key, fingerprint)
    if (earlier === null) {
      held.set(request, key)
      return
    }
    if (earlier.fingerprint !== fingerprint) throw appError('idempotency_key_reused')
    if (earlier.state === 'pending') throw appError('idempotency_pending', {}, { retryAfter: 1 })
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
    await settle(key, reply, payload)
    return payload
  })
  // A response that Fastify does not send has no `onSend`, so it cannot be replayed.
  app.addHook('onResponse', async (request) => {
    const key = held.get(request)
    if (key !== undefined) await keys.release(key)
  })

  async function settle(key: Key, reply: FastifyReply, payload: unknown): Promise<void> {
    if (reply.statusCode >= 300) return await keys.release(key)
    const isStored = typeof payload === 'string' && payload.length <= MAX_BODY_CHARACTERS
    await keys.finish(key, { status: reply.statusCode, body: isStored ? payload : null })
  }
}

/** Uploads are read by their route, so only their size is compared. */
const fingerprintOf = (request: FastifyRequest): string =>
  createHash('sha256')
    .update(`${request.url}\n${request.headers['content-length'] ?? ''}\n`)
    .update(JSON.stringify(request.body ?? null))
    .digest('base64url')
