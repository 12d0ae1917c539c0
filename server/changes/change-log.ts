// The newest changes of every user, in memory: published after they are stored, read by the streams that tell them.
import { LRUCache } from 'lru-cache'
import type { Change } from '../protocol/change.ts'
import type { UserId } from '../protocol/ids.ts'

/** Changes of one user that a tab may have missed and still read one by one. */
const MAX_CHANGES = 500
/** Users whose changes are remembered. */
const MAX_USERS = 1_000

export interface NumberedChange {
  id: string
  change: Change
}

/**
 * The one place that changes go through. A process that shares its users with others puts another implementation here,
 * which carries them between the processes; ids are opaque to everybody else for that reason.
 */
export interface ChangeLog {
  /** Call it after the commit: whoever is told asks at once. */
  publish(userId: UserId, change: Change): void
  /** What came after `id`, oldest first; null when that is no longer known (or never was) and everything may be new. */
  since(userId: UserId, id: string): NumberedChange[] | null
  /** The id that everything from now on comes after. */
  lastId(): string
  /** `listener` is called after each change of the user; it must not throw. Returns how to end that. */
  subscribe(userId: UserId, listener: () => void): () => void
}

interface Kept {
  changes: { number: number; change: Change }[]
  /** Everything up to this number is forgotten. */
  forgotten: number
}

export function createChangeLog(): ChangeLog {
  /** Ids of an earlier process mean nothing here. */
  const epoch = Date.now().toString(36)
  let last = 0
  /** The newest change of all users whose changes were forgotten as a whole. */
  let evicted = 0
  const kept = new LRUCache<UserId, Kept>({
    max: MAX_USERS,
    dispose: ({ changes }) => {
      evicted = Math.max(evicted, changes.at(-1)?.number ?? 0)
    },
  })
  const listeners = new Map<UserId, Set<() => void>>()
  const idOf = (number: number): string => `${epoch}-${number}`

  return {
    publish(userId, change) {
      last += 1
      const own = kept.get(userId) ?? { changes: [], forgotten: evicted }
      own.changes.push({ number: last, change })
      if (own.changes.length > MAX_CHANGES) own.forgotten = own.changes.shift()?.number ?? last
      if (!kept.has(userId)) kept.set(userId, own)
      for (const listener of [...(listeners.get(userId) ?? [])]) listener()
    },
    since(userId, id) {
      const number = numberOf(id, epoch)
      if (number === null || number > last) return null
      const own = kept.get(userId)
      if (number < (own?.forgotten ?? evicted)) return null
      return (own?.changes ?? [])
        .filter((one) => one.number > number)
        .map((one) => ({ id: idOf(one.number), change: one.change }))
    },
    lastId: () => idOf(last),
    subscribe(userId, listener) {
      const own = listeners.get(userId) ?? new Set()
      listeners.set(userId, own.add(listener))
      return () => {
        own.delete(listener)
        if (own.size === 0) listeners.delete(userId)
      }
    },
  }
}

function numberOf(id: string, epoch: string): number | null {
  const [ownEpoch, number, ...rest] = id.split('-')
  if (ownEpoch !== epoch || rest.length > 0 || !/^\d{1,15}$/.test(number ?? '')) return null
  return Number(number)
}
