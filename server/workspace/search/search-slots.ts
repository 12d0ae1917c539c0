// Limits concurrent searches, in total and per user, so that one user's searches do not delay those of others.
import { appError } from '../../errors.ts'
import { onAbort } from '../../lib/abort.ts'
import type { UserId } from '../../protocol/ids.ts'

/** Limits how many searches run at a time, per user and in total. */
export interface SearchSlots {
  /**
   * Runs `search` once its user has a free slot. Throws `request_stopped` if the signal aborts while the search waits,
   * `search_busy` if too many of the user's searches are already waiting.
   */
  run<T>(userId: UserId, search: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

interface Waiting {
  userId: UserId
  begin(): void
}

/** @param limits `perUser` and `total`: running searches; `waitingPerUser`: waiting searches of one user. */
export function createSearchSlots(limits: {
  perUser: number
  total: number
  waitingPerUser: number
}): SearchSlots {
  const running = new Map<UserId, number>()
  /** Oldest first. */
  const waiting: Waiting[] = []
  let total = 0
  const countOf = (userId: UserId): number => running.get(userId) ?? 0

  const enter = (userId: UserId): void => {
    total += 1
    running.set(userId, countOf(userId) + 1)
  }
  /** The longest-waiting search of a user with the fewest running searches. */
  const next = (): Waiting | undefined => {
    let chosen: Waiting | undefined
    for (const entry of waiting) {
      if (countOf(entry.userId) >= limits.perUser) continue
      if (chosen === undefined || countOf(entry.userId) < countOf(chosen.userId)) chosen = entry
    }
    return chosen
  }
  const leave = (userId: UserId): void => {
    total -= 1
    const left = countOf(userId) - 1
    if (left > 0) running.set(userId, left)
    else running.delete(userId)
    const chosen = total < limits.total ? next() : undefined
    if (chosen === undefined) return
    waiting.splice(waiting.indexOf(chosen), 1)
    enter(chosen.userId)
    chosen.begin()
  }
  const stopped = () => appError('request_stopped', {}, { retryable: true })

  /** Takes a slot, waiting for one if necessary. */
  const slot = (userId: UserId, signal: AbortSignal | undefined): Promise<void> | undefined => {
    if (signal?.aborted) throw stopped()
    if (total < limits.total && countOf(userId) < limits.perUser) return void enter(userId)
    const ahead = waiting.filter((entry) => entry.userId === userId).length
    if (ahead >= limits.waitingPerUser)
      throw appError('search_busy', { count: ahead }, { retryable: true, retryAfter: 5 })
    return new Promise((resolve, reject) => {
      let release = (): void => {}
      const entry: Waiting = {
        userId,
        begin() {
          release()
          resolve()
        },
      }
      waiting.push(entry)
      if (signal !== undefined)
        release = onAbort(signal, () => {
          const index = waiting.indexOf(entry)
          if (index !== -1) waiting.splice(index, 1)
          reject(stopped())
        })
    })
  }

  return {
    async run(userId, search, signal) {
      await slot(userId, signal)
      try {
        return await search()
      } finally {
        leave(userId)
      }
    },
  }
}
