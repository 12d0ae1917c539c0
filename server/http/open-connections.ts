// Tracks each user's requests until their responses are sent, so that they can be ended when access ends.
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { LRUCache } from 'lru-cache'
import { appError } from '../errors.ts'
import { atMost } from '../lib/lru-limit.ts'
import type { UserId } from '../protocol/ids.ts'
import { sendRawError } from './error-handler.ts'

/** The user who sent a request, and the id of the session or API key. */
export interface Sender {
  userId: UserId
  credential: string
}

/** Which requests of a user to end; by default, all. */
export interface Ending {
  /** Only those with this credential. */
  only?: string | undefined
  /** All but those with these credentials. */
  except?: readonly string[] | undefined
  /** The response that continues, because it reports the change. */
  kept?: ServerResponse | undefined
}

/** The requests in progress, which end with the credential that began them. */
export interface OpenConnections {
  /** The current moment, a counter. Call it before checking a credential. */
  moment(): number
  /**
   * Tracks a request until its response is sent. Returns false when such requests were ended after `since`, because the
   * credential may have been revoked since it was checked.
   * @param isStillValid looks up the credential again; rejects if the store does not respond.
   */
  add(
    sender: Sender,
    since: number,
    reply: FastifyReply,
    isStillValid: () => Promise<boolean>,
  ): boolean
  /** Call it when Fastify begins to send a complete body, which `end` then leaves alone. */
  markReady(reply: FastifyReply): void
  /** Ends requests of a user: those in progress receive a 401, streams and downloads are cut off. */
  end(userId: UserId, ending?: Ending): void
  /**
   * Looks up every credential with requests in progress, and ends the requests of invalid ones: another instance's message
   * about them may have been lost. Rejects if the store does not respond.
   */
  recheck(): Promise<void>
}

interface Tracked {
  credential: string
  isStillValid(): Promise<boolean>
}

/** Endings that are remembered. Each matters only for requests whose credential is being checked at that moment. */
const MAX_ENDINGS = 10_000

/**
 * Ends one request, and its body with it: whoever still reads it gets an error. Node would detach the body from the closing
 * connection, and a handler that waits for the rest of it would keep what it holds for ever. A handler that is past its body
 * runs to its end; Fastify ignores what it returns.
 */
function endRequest(reply: FastifyReply): void {
  const { raw } = reply
  // The connection closes anyway. Not earlier, because that would cut off the response.
  raw.once('close', () => reply.request.raw.destroy())
  if (raw.headersSent) {
    raw.destroy()
    return
  }
  reply.hijack()
  // A stream that nobody will send would stay open.
  reply.send = (payload) => {
    if (payload instanceof Readable) payload.destroy()
    return reply
  }
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) raw.setHeader(name, value)
  // Do not read the rest of an upload.
  raw.shouldKeepAlive = false
  sendRawError(appError('session_ended'), reply.request, raw)
}

const concerns = ({ only, except }: Ending, credential: string): boolean =>
  only === undefined ? except?.includes(credential) !== true : only === credential

/** Create one per process. */
export function createOpenConnections(): OpenConnections {
  const open = new Map<UserId, Map<FastifyReply, Tracked>>()
  /** The last ending of each user and kind: of all requests, of all but some (`!`), and of one credential. */
  const endings = new LRUCache<string, Ending & { at: number }>(atMost(MAX_ENDINGS))
  const ready = new WeakSet<FastifyReply>()
  let moment = 0

  function end(userId: UserId, ending: Ending = {}): void {
    const { only, except, kept } = ending
    moment += 1
    const key = only ?? (except === undefined ? null : '!')
    endings.set(key === null ? userId : `${userId} ${key}`, { only, except, at: moment })
    for (const [reply, { credential }] of [...(open.get(userId) ?? [])])
      if (
        concerns(ending, credential) &&
        reply.raw !== kept &&
        (reply.raw.headersSent || !ready.has(reply))
      )
        endRequest(reply)
  }

  return {
    moment: () => moment,
    add({ userId, credential }, since, reply, isStillValid) {
      const keys = [userId, `${userId} !`, `${userId} ${credential}`]
      const isEnded = keys.some((key) => {
        const ending = endings.get(key)
        return ending !== undefined && ending.at > since && concerns(ending, credential)
      })
      if (isEnded) return false
      if (reply.raw.destroyed) return true
      const replies = open.get(userId) ?? new Map<FastifyReply, Tracked>()
      open.set(userId, replies.set(reply, { credential, isStillValid }))
      reply.raw.once('close', () => {
        replies.delete(reply)
        if (replies.size === 0 && open.get(userId) === replies) open.delete(userId)
      })
      return true
    },
    markReady(reply) {
      ready.add(reply)
    },
    end,
    async recheck() {
      for (const [userId, replies] of [...open]) {
        const credentials = new Map([...replies.values()].map((one) => [one.credential, one]))
        // One at a time: there may be thousands, and requests must not wait for them.
        for (const { credential, isStillValid } of credentials.values())
          if (!(await isStillValid())) end(userId, { only: credential })
      }
    },
  }
}
