// Writes an entry of the audit log for each request to a route that declares one, before its response is sent.
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Actor, AuditAction, AuditDetails } from '../protocol/admin/audit.ts'
import type { UserId } from '../protocol/ids.ts'
import type { App } from './app.ts'
import { REPLAYED } from './idempotency.ts'
import { logFailedSignIn } from './request-log.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Records successful requests in the audit log, with path parameters and these fields of the body. */
    audit?: { action: AuditAction; failed?: AuditAction; fields?: readonly string[] }
  }
  interface FastifyRequest {
    /**
     * Details that a handler adds to its request's audit entry. `userId` and `username`: the account that somebody signs in
     * to, because nobody is signed in yet.
     */
    audited: AuditDetails & { username?: string; userId?: UserId }
  }
}

/** An audit entry of a route. */
export interface AuditRecord extends Actor {
  action: AuditAction
}

/** Longer values of a body are cut. */
const MAX_VALUE_CHARACTERS = 2000

const Fields = z.record(z.string(), z.unknown())

const picked = (source: unknown, names: readonly string[] | null): AuditDetails => {
  const { data = {} } = Fields.safeParse(source)
  const details: AuditDetails = {}
  for (const [name, value] of Object.entries(data))
    if (names === null || names.includes(name)) {
      if (typeof value === 'string') details[name] = value.slice(0, MAX_VALUE_CHARACTERS)
      else if (typeof value === 'number' || typeof value === 'boolean') details[name] = value
      else if (Array.isArray(value)) details[name] = value.join(' ').slice(0, MAX_VALUE_CHARACTERS)
    }
  return details
}

/** @param record must not reject, because its entry must not make a request fail. */
export function registerAudit(app: App, record: (entry: AuditRecord) => Promise<void>): void {
  app.decorateRequest('audited')
  app.addHook('onRequest', async (request) => {
    request.audited = {}
  })
  app.addHook('onSend', async (request, reply, payload) => {
    const { audit } = request.routeOptions.config
    if (audit === undefined) return payload
    // A replayed response: nothing was done again.
    if (reply.getHeader(REPLAYED) !== undefined) return payload
    const isRefused = reply.statusCode === 401 || request.refusal === 'passkey_invalid'
    const action = reply.statusCode < 400 ? audit.action : isRefused ? audit.failed : undefined
    if (action === undefined) return payload
    const entry = entryOf(request, audit.fields ?? [])
    if (action === 'sign_in_failed') logFailedSignIn(request, { account: entry.username })
    await record({ action, ...entry })
    return payload
  })
}

/** The sender of a request, for acts that write their own entry. */
export function actorOf({
  user,
  apiKey,
  ip,
}: Pick<FastifyRequest, 'user' | 'apiKey' | 'ip'>): Actor {
  // Not set on public routes, whatever its type says.
  const sender: typeof user | undefined = user
  return {
    userId: sender?.id ?? null,
    username: sender?.username ?? null,
    address: ip,
    details: apiKey === null ? {} : { api_key: apiKey.id },
  }
}

function entryOf(request: FastifyRequest, fields: readonly string[]): Omit<AuditRecord, 'action'> {
  const { userId, username, ...added } = request.audited
  const actor = actorOf(request)
  return {
    ...actor,
    userId: userId ?? actor.userId,
    username: username ?? actor.username,
    details: {
      ...picked(request.params, null),
      ...picked(request.body, fields),
      ...added,
      ...actor.details,
    },
  }
}
