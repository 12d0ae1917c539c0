// What this process is for its store: its only owner, or one of several instances that share it.
import type { ChangeLog } from '../changes/change-log.ts'
import type { ChatService } from '../chat/chat-service.ts'
import { joinCluster } from '../cluster/cluster.ts'
import type { Config } from '../config/schema.ts'
import type { Store } from '../db/store.ts'
import type { WorkClaims } from '../lib/work-claims.ts'
import type { StoreOwner } from '../owner/owner.ts'
import type { RunRegistry } from '../runs/registry.ts'
import type { RunSharing } from '../runs/shared/sharing.ts'

export interface Instance {
  readonly id: string
  /** Resolves when this process may act outside the store. Rejects when the signal is aborted. */
  whenOwner(signal: AbortSignal): Promise<void>
  readonly sharing: RunSharing | undefined
  /** Which instance does what must be done once; absent in a single process. */
  readonly claims: WorkClaims | undefined
  /** Does work that one instance at a time must do, such as cleaning up: here, or as soon as this one has to. */
  lead(begin: () => () => void | Promise<void>): void
  /** The change log with the changes of all instances. */
  shareChanges(changes: ChangeLog): ChangeLog
  /** Continues what others left, from now on. */
  start(chat: Pick<ChatService, 'runs' | 'recover'>): Promise<void>
  /** Takes no more runs and drains those that it performs. */
  drain(runs: RunRegistry, graceMs: number): Promise<void>
  /** Ends what `lead` began. */
  stopLeading(): Promise<void>
  /** Call it before the store is closed, when nothing runs any more. */
  leave(): Promise<void>
}

/** Call it once, after the migrations. */
export async function openInstance({
  config,
  owner,
  store,
  log,
}: {
  config: Pick<Config, 'redis_url'>
  owner: StoreOwner
  store: Store
  log: Parameters<typeof joinCluster>[0]['log']
}): Promise<Instance> {
  await owner.begin(store.ownerEpochs)
  const { instance: id } = owner
  if (config.redis_url === undefined) {
    const ends: (() => void | Promise<void>)[] = []
    return {
      id,
      whenOwner: (signal) => owner.whenHeld(signal),
      sharing: undefined,
      claims: undefined,
      lead(begin) {
        ends.push(begin())
      },
      shareChanges: (changes) => changes,
      start: (chat) => chat.recover(),
      drain: (runs, graceMs) => runs.drain(graceMs),
      async stopLeading() {
        for (const end of ends) await end()
      },
      async leave() {},
    }
  }
  const cluster = await joinCluster({ redisUrl: config.redis_url, instance: id, store, log })
  return {
    id,
    whenOwner: (signal) => cluster.lease.whenValid(signal),
    sharing: cluster.sharing,
    claims: cluster.claims,
    lead: cluster.lead,
    shareChanges: cluster.shareChanges,
    start: (chat) => cluster.start(chat.runs.shared),
    async drain(runs, graceMs) {
      await cluster.stopTaking()
      await runs.drain(graceMs)
    },
    stopLeading: cluster.stopLeading,
    leave: cluster.leave,
  }
}
