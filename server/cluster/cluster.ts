// One of several instances on a store: its lease, its connections to Redis, and what it shares through them.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { ChangeLog } from '../changes/change-log.ts'
import { CLUSTER_KEY } from '../db/repositories/installation.ts'
import type { LeaseRepository } from '../db/repositories/runs/leases.ts'
import type { Store } from '../db/store.ts'
import { newId } from '../lib/ids.ts'
import type { Limits } from '../lib/limits.ts'
import type { SharedTexts } from '../lib/shared-texts.ts'
import type { WorkClaims } from '../lib/work-claims.ts'
import { Change } from '../protocol/change.ts'
import { type RunId, UserId } from '../protocol/ids.ts'
import type { RunSharing, SharedRuns } from '../runs/shared/sharing.ts'
import { type Bus, createBus } from './bus.ts'
import { keepLease, LEASE_MS, type LeaseKeeper } from './lease-keeper.ts'
import { connectRedis, type RedisConnections, type RedisLog, within } from './redis.ts'
import { createRunQueue } from './run-queue.ts'
import { createRunStreams } from './run-streams.ts'
import { createSharedLimits } from './shared-limits.ts'

// Texts that instances share in Redis for a while, each under a key of its own.

/** Longer texts stay with the instance that has them. */
const MAX_CHARACTERS = 200_000
/** Waiting longer would take more time than repeating the work. */
const ANSWER_MS = 300

/** While Redis is unreachable, there are none. */
function createSharedTexts(
  redis: Pick<RedisConnections, 'commands' | 'isReady'>,
  namespace: string,
): SharedTexts {
  // Keys may have any length, and nobody needs to read them in Redis.
  const keyOf = (key: string): string =>
    `${namespace}:text:${createHash('sha256').update(key).digest('base64url')}`
  return {
    async get(key) {
      if (!redis.isReady) return undefined
      const found = within(ANSWER_MS, redis.commands.get(keyOf(key)))
      return (await found.catch(() => null)) ?? undefined
    },
    set(key, text, lifetimeMs) {
      if (!redis.isReady || text.length > MAX_CHARACTERS) return
      redis.commands.set(keyOf(key), text, 'PX', lifetimeMs).catch(() => undefined)
    },
  }
}

// Work that only one instance at a time does: rows that end with the lease of the instance that holds them.

const RETRY_MS = 1_000

/** A claim holds only while the lease of this instance is valid. */
export function createSharedClaims({
  leases,
  lease,
  instance,
}: {
  leases: Pick<LeaseRepository, 'hold' | 'isHeld' | 'release'>
  lease: Pick<LeaseKeeper, 'isValid' | 'isHeldSince'>
  instance: string
}): WorkClaims {
  /** Since when this instance holds what it has claimed, by the monotonic clock. */
  const claimed = new Map<string, number>()

  const releasing = new Map<string, Promise<void>>()

  function release(name: string): Promise<void> {
    const work = tryRelease(name).finally(() => releasing.delete(name))
    releasing.set(name, work)
    return work
  }
  async function tryRelease(name: string): Promise<void> {
    try {
      await leases.release(name, instance)
    } catch {
      // The database is unreachable, which its connection reports. Until the row is removed, only this instance could claim
      // it.
      setTimeout(() => {
        if (!claimed.has(name)) void release(name)
      }, RETRY_MS).unref()
    }
  }

  return {
    isShared: true,
    async claim(name) {
      // Without a valid lease, others would take over the claim at once.
      if (!lease.isValid) return false
      // Otherwise a late release could end this claim.
      await releasing.get(name)
      const since = performance.now()
      if (!(await leases.hold(name, instance))) return false
      claimed.set(name, since)
      return true
    },
    async finish(name) {
      claimed.delete(name)
      await release(name)
    },
    async holds(name) {
      const since = claimed.get(name)
      if (since === undefined) return false
      return lease.isHeldSince(since) || (await leases.isHeld(name, instance))
    },
  }
}

/** How often an instance looks for runs that no instance performs, and for changes that were stored for its own. */
const TAKE_OVER_EVERY_MS = 2_000
const LOOK_EVERY_MS = 1_000
/**
 * With fewer active runs, an instance performs new ones itself: the queue costs more time than another instance could save.
 * With more, all instances share new runs, however unevenly clients are connected.
 */
const PERFORMED_HERE = 32
/** The lease for cleaning up and other work in the background. */
const DUTIES = 'duties'
const StoreIdentity = z.object({ id: z.string() })
const ChangeMessage = z.object({ users: z.array(UserId), change: Change })

/** Everything that an instance needs to share one store with others. */
export interface Cluster {
  readonly lease: LeaseKeeper
  readonly sharing: RunSharing
  readonly bus: Bus
  /** Work that an instance has claimed for its lifetime. */
  readonly claims: WorkClaims
  readonly limits: Limits
  readonly texts: SharedTexts
  readonly isRedisReady: boolean
  /** Runs work that only one instance at a time must do, as soon as this instance becomes responsible. */
  lead(begin: () => () => void | Promise<void>): void
  stopLeading(): Promise<void>
  /** Runs that wait in the queue; NaN if Redis does not respond. */
  queuedRuns(): Promise<number>
  /** Sends the changes of users to the other instances, and receives theirs. */
  shareChanges(changes: ChangeLog): ChangeLog
  /** Starts to take runs, and to take over those of instances that have died. */
  start(runs: SharedRuns): Promise<void>
  /** Takes no more runs. Those that it performs continue. */
  stopTaking(): Promise<void>
  /** Releases the lease, so that others continue at once, and closes all connections. */
  leave(): Promise<void>
}

/** Acquires a lease for this instance and connects to Redis in the background. It takes no runs before `start`. */
export async function joinCluster({
  redisUrl,
  instance,
  store,
  log,
}: {
  redisUrl: string
  instance: string
  store: Store
  log: RedisLog
}): Promise<Cluster> {
  // Several stores may share one Redis.
  await store.settings.create(CLUSTER_KEY, { id: newId<string>() })
  const identity = await store.settings.get(CLUSTER_KEY, StoreIdentity)
  const namespace = `nanoclaw:${identity?.id ?? 'store'}`
  const lease = await keepLease({ renew: (ms) => store.leases.renew(instance, ms), log })
  const redis = connectRedis(redisUrl, log)
  log.info({ instance }, 'this process shares its store with other instances')
  const bus = createBus({ redis, namespace, instance, log })
  const limits = createSharedLimits({ redis, namespace })
  let shared: SharedRuns | null = null
  let isTaking = false
  const streams = createRunStreams({
    redis,
    bus,
    namespace,
    store,
    log,
    onListeners: (id, count, pages) => shared?.setRemoteListeners(id, count, pages),
  })
  const queue = createRunQueue({
    redis,
    namespace,
    async onRun(id) {
      if (isTaking) await shared?.take(id)
    },
  })

  /** One at a time. Failures come from the database, and the next attempt follows soon. */
  const single = (work: () => Promise<void> | undefined): (() => void) => {
    let isRunning = false
    return () => {
      if (isRunning || shared === null) return
      isRunning = true
      Promise.resolve(work())
        .catch((error: unknown) => log.warn({ err: error }, 'the store could not be checked'))
        .finally(() => {
          isRunning = false
        })
    }
  }
  const look = single(() => shared?.lookAtChanges())
  const takeOver = single(() => (isTaking && lease.isTrusted ? shared?.takeOver() : undefined))
  bus.on('look', look)
  bus.on('handover', takeOver)
  const timers: NodeJS.Timeout[] = []

  const duties: (() => () => void | Promise<void>)[] = []
  let ends: (() => void | Promise<void>)[] = []
  let isLeader = false
  const resign = async (): Promise<void> => {
    isLeader = false
    const ending = ends
    ends = []
    for (const end of ending) await end()
  }
  const lead = single(async () => {
    const leads = await store.leases.claim(DUTIES, instance, LEASE_MS).catch((error: unknown) => {
      log.warn(
        { err: error },
        'background work is left to other instances: the store is not responding',
      )
      return false
    })
    if (leads === isLeader) return
    if (!leads) return await resign()
    isLeader = true
    ends = duties.map((begin) => begin())
  })
  const leading = setInterval(lead, TAKE_OVER_EVERY_MS).unref()

  return {
    lease,
    bus,
    claims: createSharedClaims({ leases: store.leases, lease, instance }),
    limits,
    texts: createSharedTexts(redis, namespace),
    get isRedisReady() {
      return redis.isReady
    },
    lead(begin) {
      duties.push(begin)
      if (isLeader) ends.push(begin())
    },
    stopLeading: async () => {
      clearInterval(leading)
      await resign()
      await store.leases.release(DUTIES, instance)
    },
    sharing: {
      isOffering: (atWork) => redis.isReady && isTaking && atWork >= PERFORMED_HERE,
      hasOthers: async () => (await store.leases.others(instance)).length > 0,
      dispatch: (id: RunId) => queue.add(id),
      nudge: (holder) => bus.sendTo(holder, 'look', null),
      publish: streams.publish,
      follow: streams.follow,
    },
    queuedRuns: queue.waiting,
    shareChanges(changes) {
      bus.on('change', (data) => {
        const { users, change } = ChangeMessage.parse(data)
        changes.publishToAll(users, change)
      })
      // Changes of other instances in the meantime are unknown, so everything may be new.
      redis.onChange((isReady) => {
        if (isReady) changes.forget()
      })
      return {
        ...changes,
        publish(user, change) {
          changes.publish(user, change)
          bus.send('change', { users: [user], change })
        },
        publishToAll(users, change) {
          changes.publishToAll(users, change)
          bus.send('change', { users, change })
        },
      }
    },
    async start(runs) {
      shared = runs
      isTaking = true
      await runs.takeOver()
      lead()
      timers.push(
        setInterval(takeOver, TAKE_OVER_EVERY_MS).unref(),
        setInterval(look, LOOK_EVERY_MS).unref(),
      )
    },
    async stopTaking() {
      isTaking = false
      await queue.stopTaking()
    },
    async leave() {
      for (const timer of timers) clearInterval(timer)
      clearInterval(leading)
      lease.stop()
      streams.close()
      limits.close()
      bus.close()
      await store.leases.leave(instance)
      bus.send('handover', null)
      await queue.close()
      await redis.close()
    },
  }
}
