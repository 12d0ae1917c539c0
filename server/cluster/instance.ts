// The role of this process for its store: its only owner, or one of several instances that share it.
import type { ChangeLog } from '../changes/change-log.ts'
import type { Store } from '../db/store.ts'
import type { Limits } from '../lib/limits.ts'
import { createLocalLimits } from '../lib/local-limits.ts'
import type { SharedTexts } from '../lib/shared-texts.ts'
import type { WorkClaims } from '../lib/work-claims.ts'
import type { StoreOwner } from '../owner/owner.ts'
import type { RunRegistry } from '../runs/registry.ts'
import type { RunSharing } from '../runs/shared/sharing.ts'
import type { OpenRequests } from './end-requests.ts'
import type { RedisLog } from './redis.ts'

/** This process among the instances of its store. */
export interface Instance {
  readonly id: string
  /** Resolves when this process may act outside the store. Rejects when the signal is aborted. */
  whenOwner(signal: AbortSignal): Promise<void>
  readonly sharing: RunSharing | undefined
  /** Claims of work that must be done once; absent in a single process. */
  readonly claims: WorkClaims | undefined
  /** The counters of limits, shared by all instances. */
  readonly limits: Limits
  /** Results that instances share; absent in a single process. */
  readonly texts: SharedTexts | undefined
  /** Begins work that one instance at a time must do, such as cleaning up: here, as soon as this instance leads. */
  lead(begin: () => () => void | Promise<void>): void
  /** Whether Redis responds; undefined in a single process. */
  readonly redisState: 'available' | 'unavailable' | undefined
  /** Runs that wait in the queue of all instances; NaN when it does not answer. */
  queuedRuns(): Promise<number>
  /** How often this instance has failed to renew its lease in time. */
  leaseLapses(): number
  /** Extends the change log with the changes of all instances. */
  shareChanges(changes: ChangeLog): ChangeLog
  /** Extends the open requests of users, so that they end at every instance when access ends at one. */
  shareEndings<Requests extends OpenRequests>(requests: Requests): Requests
  /** Calls `reread` when another instance has changed what all instances remember, such as the rules of groups. */
  onRules(reread: () => void): void
  /** Tells the other instances to read it again. Never waits and never fails. */
  announceRules(): void
  /** Starts continuing the runs that other processes left. */
  start(chat: { runs: Pick<RunRegistry, 'shared'>; recover(): Promise<void> }): Promise<void>
  /** Accepts no more runs, and drains the active ones. */
  drain(runs: Pick<RunRegistry, 'drain'>, graceMs: number): Promise<void>
  /** Ends the work begun by `lead`. */
  stopLeading(): Promise<void>
  /** Call it when nothing runs any more, before the store is closed. */
  leave(): Promise<void>
}

/**
 * Call it once, after the migrations.
 * @param options.redisUrl undefined: this process is the only owner of its store.
 */
export async function openInstance({
  redisUrl,
  owner,
  store,
  log,
}: {
  redisUrl: string | undefined
  owner: StoreOwner
  store: Store
  log: RedisLog
}): Promise<Instance> {
  await owner.begin(store.ownerEpochs)
  const { instance: id } = owner
  if (redisUrl === undefined) {
    const ends: (() => void | Promise<void>)[] = []
    return {
      id,
      whenOwner: owner.whenHeld,
      sharing: undefined,
      claims: undefined,
      limits: createLocalLimits(),
      texts: undefined,
      redisState: undefined,
      lead(begin) {
        ends.push(begin())
      },
      queuedRuns: async () => 0,
      leaseLapses: () => 0,
      shareChanges: (changes) => changes,
      shareEndings: (requests) => requests,
      onRules() {},
      announceRules() {},
      start: (chat) => chat.recover(),
      drain: (runs, graceMs) => runs.drain(graceMs),
      async stopLeading() {
        for (const end of ends) await end()
      },
      async leave() {},
    }
  }
  // Loaded only here: the clients of Redis are a tenth of the code that a single process would load at its start.
  const [{ joinCluster }, { endEverywhere }] = await Promise.all([
    import('./cluster.ts'),
    import('./end-requests.ts'),
  ])
  const cluster = await joinCluster({
    redisUrl,
    instance: id,
    store,
    log,
  })
  return {
    id,
    whenOwner: (signal) => cluster.lease.whenValid(signal),
    sharing: cluster.sharing,
    claims: cluster.claims,
    limits: cluster.limits,
    texts: cluster.texts,
    get redisState() {
      return cluster.isRedisReady ? ('available' as const) : ('unavailable' as const)
    },
    lead: cluster.lead,
    queuedRuns: cluster.queuedRuns,
    leaseLapses: () => cluster.lease.lapses,
    shareChanges: cluster.shareChanges,
    shareEndings: (requests) => endEverywhere(requests, cluster.bus, log),
    onRules: (reread) => cluster.bus.on('rules', reread),
    announceRules: () => cluster.bus.send('rules', null),
    start: (chat) => cluster.start(chat.runs.shared),
    async drain(runs, graceMs) {
      await cluster.stopTaking()
      await runs.drain(graceMs)
    },
    stopLeading: cluster.stopLeading,
    leave: cluster.leave,
  }
}
