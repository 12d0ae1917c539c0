// A queue in front of a shared resource: an owner with much work waits behind that work and does not delay others.

/** Limits how much work runs at a time; owners take turns. */
export interface FairQueue {
  /**
   * Runs `work` when there is room. Owners take turns, one job each, whatever the order of the calls; each owner's jobs
   * keep their order.
   * @param owner null for work without an owner, which is treated as that of one owner.
   */
  run<T>(owner: string | null, work: () => Promise<T>): Promise<T>
  /** Number of waiting jobs, of all owners or of one. */
  waiting(owner?: string | null): number
}

/**
 * @param size maximum number of running jobs.
 * @param perOwner maximum number of running jobs per owner, except for those of `null`. Default: `size`.
 */
export function createFairQueue({
  size,
  perOwner = size,
}: {
  size: number
  perOwner?: number
}): FairQueue {
  /** The waiting jobs by owner, in the order of the owners' turns. */
  const lines = new Map<string | null, (() => void)[]>()
  const running = new Map<string | null, number>()
  let busy = 0
  let waitingCount = 0

  const runningOf = (owner: string | null): number => running.get(owner) ?? 0
  const hasRoom = (owner: string | null): boolean =>
    busy < size && (owner === null || runningOf(owner) < perOwner)

  function enter(owner: string | null): void {
    busy += 1
    running.set(owner, runningOf(owner) + 1)
  }

  /** Starts the next jobs. An owner who had a turn goes last. */
  function admit(): void {
    for (const [owner, line] of lines) {
      if (busy >= size) return
      if (!hasRoom(owner)) continue
      const begin = line.shift()
      lines.delete(owner)
      // A map visits a key that is deleted and set again once more in the same loop, after all others.
      if (line.length > 0) lines.set(owner, line)
      if (begin === undefined) continue
      waitingCount -= 1
      enter(owner)
      begin()
    }
  }

  return {
    async run(owner, work) {
      // Others may wait although there is room, because of their own earlier jobs.
      if (hasRoom(owner) && !lines.has(owner)) enter(owner)
      else
        await new Promise<void>((begin) => {
          waitingCount += 1
          const line = lines.get(owner)
          if (line === undefined) lines.set(owner, [begin])
          else line.push(begin)
        })
      try {
        return await work()
      } finally {
        busy -= 1
        const left = runningOf(owner) - 1
        if (left > 0) running.set(owner, left)
        else running.delete(owner)
        admit()
      }
    },
    waiting: (owner) => (owner === undefined ? waitingCount : (lines.get(owner)?.length ?? 0)),
  }
}
