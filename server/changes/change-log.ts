// The newest changes of every user, in memory: published after they are stored, read by the event streams, announced to whom they
// concern.
import { LRUCache } from 'lru-cache'
import type { Change } from '../protocol/change.ts'
import type { UserId } from '../protocol/ids.ts'

/** Changes of one user that a tab which missed them can still read one by one. */
const MAX_CHANGES = 500
/** Users whose changes are stored in memory. */
const MAX_USERS = 1_000
/** A change for more users is stored only for those who have a page open; the others read everything again. */
const MAX_STORED = 200

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
  /**
   * The same for at most 1,000 users at once. Of many, those without an open page at an instance read everything again there when
   * they return, so that the changes of others are not dropped for theirs.
   */
  publishToAll(userIds: readonly UserId[], change: Change): void
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

/** A user with an open page. */
interface Follower {
  listeners: Set<() => void>
  /** Changes up to this number are no longer available if none are stored. */
  droppedUpTo: number
}

/**
 * Create one per process. It does not know the ids of an earlier process: a client that continues from one reads everything
 * again.
 */
export function createChangeLog({ maxStored = MAX_STORED } = {}): ChangeLog {
  /** Distinguishes the ids of this process from those of an earlier one. */
  const startedAt = Date.now().toString(36)
  let epoch = startedAt
  let forgotten = 0
  let last = 0
  /** The newest change that is not stored of users without an open page. */
  let droppedUpTo = 0
  const followers = new Map<UserId, Follower>()
  const changesOfUsers = new LRUCache<UserId, UserChanges>({
    max: MAX_USERS,
    dispose: ({ changes }, userId) => {
      const newest = changes.at(-1)?.number ?? last
      const follower = followers.get(userId)
      if (follower === undefined) droppedUpTo = Math.max(droppedUpTo, newest)
      else follower.droppedUpTo = newest
    },
  })
  const idOf = (number: number): string => `${epoch}-${number}`
  const droppedOf = (userId: UserId): number =>
    changesOfUsers.get(userId)?.droppedUpTo ?? followers.get(userId)?.droppedUpTo ?? droppedUpTo

  const publish = (userId: UserId, change: Change): void => {
    last += 1
    const ofUser = changesOfUsers.get(userId) ?? { changes: [], droppedUpTo: droppedOf(userId) }
    ofUser.changes.push({ number: last, change })
    if (ofUser.changes.length > MAX_CHANGES)
      ofUser.droppedUpTo = ofUser.changes.shift()?.number ?? last
    if (!changesOfUsers.has(userId)) changesOfUsers.set(userId, ofUser)
    for (const listener of [...(followers.get(userId)?.listeners ?? [])]) listener()
  }
  const drop = (userId: UserId): void => {
    last += 1
    changesOfUsers.delete(userId)
    droppedUpTo = last
  }

  return {
    publish,
    publishToAll(userIds, change) {
      for (const userId of userIds) {
        if (userIds.length <= maxStored || followers.has(userId)) publish(userId, change)
        else drop(userId)
      }
    },
    since(userId, id) {
      const number = numberOf(id, epoch)
      if (number === null || number > last) return null
      if (number < droppedOf(userId)) return null
      return (changesOfUsers.get(userId)?.changes ?? [])
        .filter((one) => one.number > number)
        .map((one) => ({ id: idOf(one.number), change: one.change }))
    },
    forget() {
      forgotten += 1
      epoch = `${startedAt}.${forgotten}`
      for (const { listeners } of followers.values())
        for (const listener of [...listeners]) listener()
    },
    lastId: () => idOf(last),
    isFollowed: (userId) => followers.has(userId),
    subscribe(userId, listener) {
      const follower = followers.get(userId) ?? { listeners: new Set(), droppedUpTo }
      followers.set(userId, follower)
      follower.listeners.add(listener)
      return () => {
        follower.listeners.delete(listener)
        if (follower.listeners.size > 0 || followers.get(userId) !== follower) return
        followers.delete(userId)
        // What is missing for this user is missing for whoever has no open page.
        droppedUpTo = Math.max(droppedUpTo, follower.droppedUpTo)
      }
    },
  }
}

function numberOf(id: string, epoch: string): number | null {
  const [ownEpoch, number, ...rest] = id.split('-')
  if (ownEpoch !== epoch || rest.length > 0 || !/^\d{1,15}$/.test(number ?? '')) return null
  return Number(number)
}

// Announces changes of runs and requests: to the pages of their user, and to those whom this run or request concerns.

type Announce<Announced extends Change> = (userId: UserId, change: Announced) => void
type Has<Item> = Pick<ReadonlySet<Item>, 'has'>
type ApprovalChange = Extract<Change, { type: 'approval' }>

/** Whose runs, or which ones; the sets are read at each change. */
type Followed = { users: Has<UserId> } | { runs: Has<string> }

/** Who follows some runs. It is not asked about all others. */
type RunSubscription = Followed & { changed(userId: UserId, runId: string): void }

/** Create one per process. */
export interface Announcer {
  /** Call it after the commit: listeners query at once. */
  announce: Announce<Change>
  /** From now on, each change of these runs at this instance is passed on. */
  followRuns(subscription: RunSubscription): void
}

/** @param told who learns of a request besides its user's pages. */
export function createAnnouncer(
  publish: Announce<Change>,
  told: { approval: Announce<ApprovalChange> },
): Announcer {
  const subscriptions: RunSubscription[] = []
  return {
    announce(userId, change) {
      publish(userId, change)
      if (change.type === 'approval') told.approval(userId, change)
      if (change.type !== 'run') return
      for (const subscription of subscriptions)
        if (
          'users' in subscription
            ? subscription.users.has(userId)
            : subscription.runs.has(change.id)
        )
          subscription.changed(userId, change.id)
    },
    followRuns: (subscription) => void subscriptions.push(subscription),
  }
}
