// Who may search now: so many at once, and of one user fewer, so that nobody waits for all the searches of somebody else.
import { appError } from '../../errors.ts'
import type { UserId } from '../../protocol/ids.ts'

export interface SearchSlots {
  /**
   * Runs `search` when there is a slot for its user. Waiting ends with `request_stopped` when the signal aborts; a search
   * beyond those that may wait is refused with `search_busy`.
   */
  run<T>(userId: UserId, search: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

interface Waiting {
  userId: UserId
  begin(): void
}

/** `waitingPerUser`: searches of one user that wait while others run. */
export function createSearchSlots(limits: {
  perUser: number
  inAll: number
  waitingPerUser: number
}): SearchSlots {
  const running = new Map<UserId, number>()
  /** Oldest first. */
  const waiting: Waiting[] = []
  let inAll = 0
  const runningOf = (userId: UserId): number => running.get(userId) ?? 0

  const enter = (userId: UserId): void => {
    inAll += 1
    running.set(userId, runningOf(userId) + 1)
  }
  /** Of the users with the fewest searches, the one that waits longest. */
  const next = (): Waiting | undefined => {
    let chosen: Waiting | undefined
    for (const one of waiting) {
      if (runningOf(one.userId) >= limits.perUser) continue
      if (chosen === undefined || runningOf(one.userId) < runningOf(chosen.userId)) chosen = one
    }
    return chosen
  }
  const leave = (userId: UserId): void => {
    inAll -= 1
    const left = runningOf(userId) - 1
    if (left > 0) running.set(userId, left)
    else running.delete(userId)
    const chosen = inAll < limits.inAll ? next() : undefined
    if (chosen === undefined) return
    waiting.splice(waiting.indexOf(chosen), 1)
    enter(chosen.userId)
    chosen.begin()
  }
  const stopped = () => appError('request_stopped', {}, { retryable: true })

  /** Resolves with a slot taken. */
  const slot = (userId: UserId, signal: AbortSignal | undefined): Promise<void> | undefined => {
    if (signal?.aborted) throw stopped()
    if (inAll < limits.inAll && runningOf(userId) < limits.perUser) return void enter(userId)
    const ahead = waiting.filter((one) => one.userId === userId).length
    if (ahead >= limits.waitingPerUser)
      throw appError('search_busy', { count: ahead }, { retryable: true, retryAfter: 5 })
    return new Promise((resolve, reject) => {
      const give = (): void => {
        const place = waiting.indexOf(one)
        if (place !== -1) waiting.splice(place, 1)
        reject(stopped())
      }
      const one: Waiting = {
        userId,
        begin() {
          signal?.removeEventListener('abort', give)
          resolve()
        },
      }
      waiting.push(one)
      signal?.addEventListener('abort', give, { once: true })
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
