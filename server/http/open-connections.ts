// Tracks each user's requests until their responses are sent, so that they can be ended when the user's access ends.
import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { appError } from '../errors.ts'
import type { UserId } from '../protocol/ids.ts'
import { sendRawError } from './error-handler.ts'

export interface OpenConnections {
  /** The current moment, a counter. Call it before checking a credential. */
  moment(): number
  /**
   * Tracks a request until its response is sent. Returns false when the user's requests were ended after `since`, because
   * the credential may have been revoked since it was checked.
   */
  add(userId: UserId, since: number, reply: FastifyReply): boolean
  /** Call it when Fastify begins to send a complete body, which `end` then leaves alone. */
  markReady(reply: FastifyReply): void
  /**
   * Ends every request of a user, except the one of the response `kept`: requests in progress receive a 401, streams and
   * downloads are cut off.
   */
  end(userId: UserId, except?: ServerResponse): void
}

/** Ends one request. Its handler may still be running; Fastify ignores what it returns. */
function endRequest(reply: FastifyReply): void {
  const { raw } = reply
  if (raw.headersSent) {
    raw.destroy()
    return
  }
  reply.hijack()
  // The rest of an upload is not read.
  raw.shouldKeepAlive = false
  sendRawError(appError('session_ended'), reply.request, raw)
}

export function createOpenConnections(): OpenConnections {
  const open = new Map<UserId, Set<FastifyReply>>()
  /** When each user's requests were last ended. */
  const endings = new Map<UserId, number>()
  const ready = new WeakSet<FastifyReply>()
  let moment = 0
  return {
    moment: () => moment,
    add(userId, since, reply) {
      if ((endings.get(userId) ?? 0) > since) return false
      if (reply.raw.destroyed) return true
      const replies = open.get(userId) ?? new Set()
      open.set(userId, replies.add(reply))
      reply.raw.once('close', () => {
        replies.delete(reply)
        if (replies.size === 0 && open.get(userId) === replies) open.delete(userId)
      })
      return true
    },
    markReady(reply) {
      ready.add(reply)
    },
    end(userId, kept) {
      moment += 1
      endings.set(userId, moment)
      for (const reply of [...(open.get(userId) ?? [])])
        if (reply.raw !== kept && (reply.raw.headersSent || !ready.has(reply))) endRequest(reply)
    },
  }
}
