// The answers that are being sent to each user, so that a user who may not use the server any more gets no more of them.
import type { ServerResponse } from 'node:http'
import type { UserId } from '../protocol/ids.ts'

export interface OpenConnections {
  /** To be asked before a credential is checked. */
  moment(): number
  /**
   * Knows the answer until it is sent. False when the user's connections were ended after `since`: what was found out
   * about the credential before does not hold any more.
   */
  add(userId: UserId, since: number, response: ServerResponse): boolean
  /** Cuts off every answer that is being sent to a user, streams and downloads too, but `kept`. */
  end(userId: UserId, kept?: ServerResponse): void
}

export function createOpenConnections(): OpenConnections {
  const open = new Map<UserId, Set<ServerResponse>>()
  /** When each user's were ended last. */
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
