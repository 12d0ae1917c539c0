// The newest changes of every user, in memory: published after they are stored, read by the event streams.
import { LRUCache } from 'lru-cache'
import type { Change } from '../protocol/change.ts'
import type { UserId } from '../protocol/ids.ts'

/** Changes of one user that a tab which missed them can still read one by one. */
const MAX_CHANGES = 500
/** Users whose changes are stored in memory. */
const MAX_USERS = 1_000

/** A change with its id in the stream of `GET /api/events`, from which a client continues. */
export interface NumberedChange {
  id: string
  change: Change
}

/**
 * The log of all changes. Each instance has its own, which also receives the changes of the others. Ids are valid at one
 * instance only: a client that changes instances reads everything again.
 */
export interface ChangeLog {
  /** Call it after the commit: listeners query at once. */
  publish(userId: UserId, change: Change): void
  /** The changes after `id`, oldest first; null if the id is unknown or too old, so that everything may have changed. */
  since(userId: UserId, id: string): NumberedChange[] | null
  /** The id of the newest change; later changes come after it. */
  lastId(): string
  /** Whether the user has a page open at this instance that receives changes. */
  isFollowed(userId: UserId): boolean
  /** Calls `listener` after each change of the user; it must not throw. Returns a function that ends this. */
  subscribe(userId: UserId, listener: () => void): () => void
  /** Makes all ids so far unknown, because changes may have been missed: clients read everything again. */
  forget(): void
}

interface UserChanges {
  changes: { number: number; change: Change }[]
  /** Changes up to this number are no longer available. */
  droppedUpTo: number
}

/**
 * Create one per process. It does not know the ids of an earlier process: a client that continues from one reads everything
 * again.
 */
export function createChangeLog(): ChangeLog {
  /** Distinguishes the ids of this process from those of an earlier one. */
  const startedAt = Date.now().toString(36)
  let epoch = startedAt
  let forgotten = 0
  let last = 0
  /** The newest change of the users whose changes were evicted from the cache. */
  let evictedUpTo = 0
  const changesOfUsers = new LRUCache<UserId, UserChanges>({
    max: MAX_USERS,
    dispose: ({ changes }) => {
      evictedUpTo = Math.max(evictedUpTo, changes.at(-1)?.number ?? 0)
    },
  })
  const listeners = new Map<UserId, Set<() => void>>()
  const idOf = (number: number): string => `${epoch}-${number}`

  return {
    publish(userId, change) {
      last += 1
      const ofUser = changesOfUsers.get(userId) ?? { changes: [], droppedUpTo: evictedUpTo }
      ofUser.changes.push({ number: last, change })
      if (ofUser.changes.length > MAX_CHANGES)
        ofUser.droppedUpTo = ofUser.changes.shift()?.number ?? last
      if (!changesOfUsers.has(userId)) changesOfUsers.set(userId, ofUser)
      for (const listener of [...(listeners.get(userId) ?? [])]) listener()
    },
    since(userId, id) {
      const number = numberOf(id, epoch)
      if (number === null || number > last) return null
      const ofUser = changesOfUsers.get(userId)
      if (number < (ofUser?.droppedUpTo ?? evictedUpTo)) return null
      return (ofUser?.changes ?? [])
        .filter((one) => one.number > number)
        .map((one) => ({ id: idOf(one.number), change: one.change }))
    },
    forget() {
      forgotten += 1
      epoch = `${startedAt}.${forgotten}`
      for (const ofUser of listeners.values()) for (const listener of [...ofUser]) listener()
    },
    lastId: () => idOf(last),
    isFollowed: (userId) => listeners.has(userId),
    subscribe(userId, listener) {
      const ofUser = listeners.get(userId) ?? new Set()
      listeners.set(userId, ofUser.add(listener))
      return () => {
        ofUser.delete(listener)
        if (ofUser.size === 0) listeners.delete(userId)
      }
    },
  }
}

function numberOf(id: string, epoch: string): number | null {
  const [ownEpoch, number, ...rest] = id.split('-')
  if (ownEpoch !== epoch || rest.length > 0 || !/^\d{1,15}$/.test(number ?? '')) return null
  return Number(number)
}
