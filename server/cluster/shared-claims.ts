// Work that only one instance at a time does: rows that end with the lease of the instance that holds them.
import type { LeaseRepository } from '../db/repositories/runs/leases.ts'
import type { WorkClaims } from '../lib/work-claims.ts'
import type { LeaseKeeper } from './lease-keeper.ts'

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
