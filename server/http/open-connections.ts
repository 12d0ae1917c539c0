// Tracks the responses being sent to each user, so that they can be closed when the user's access ends.
import type { ServerResponse } from 'node:http'
import type { UserId } from '../protocol/ids.ts'

export interface OpenConnections {
  /** The current moment, a counter. Call it before checking a credential. */
  moment(): number
  /**
   * Tracks the response until it is sent. Returns false when the user's connections were closed after `since`, because the
   * credential may have been revoked since it was checked.
   */
  add(userId: UserId, since: number, response: ServerResponse): boolean
  /** Closes every response being sent to a user, including streams and downloads, except `kept`. */
  end(userId: UserId, kept?: ServerResponse): void
}

export function createOpenConnections(): OpenConnections {
  const open = new Map<UserId, Set<ServerResponse>>()
  /** When each user's connections were last ended. */
  const endings = new Map<UserId, number>()
  let moment = 0
  return {
    moment: () => moment,
    add(userId, since, response) {
      if ((endings.get(userId) ?? 0) > since) return false
      if (response.destroyed) return true
      const responses = open.get(userId) ?? new Set()
      open.set(userId, responses.add(response))
      response.once('close', () => {
        responses.delete(response)
        if (responses.size === 0 && open.get(userId) === responses) open.delete(userId)
      })
      return true
    },
    end(userId, kept) {
      moment += 1
      endings.set(userId, moment)
      for (const response of [...(open.get(userId) ?? [])])
        if (response !== kept) response.destroy()
    },
  }
}
