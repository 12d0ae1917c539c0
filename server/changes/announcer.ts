// Announces changes of runs and requests: to the pages of their user, and to those whom this run or request concerns.
import type { Change } from '../protocol/change.ts'
import type { UserId } from '../protocol/ids.ts'

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
