// A queue in front of a shared resource: whoever asks for much waits behind their own work, not in front of everybody else's.

/** Bounds how much runs at a time; owners take turns. */
export interface FairQueue {
  /**
   * Runs `work` when there is room. Owners take turns, one piece of work each, whatever the order in which they asked; the
   * work of one owner keeps its order.
   * @param owner null: nobody's in particular; all of it is one owner's.
   */
  run<T>(owner: string | null, work: () => Promise<T>): Promise<T>
  /** Pieces of work that wait, of everybody or of one owner. */
  waiting(owner?: string | null): number
}

/**
 * @param size how many pieces of work run at once.
 * @param perOwner how many of these may be one owner's, except those of `null`. Default: all.
 */
export function createFairQueue({
  size,
  perOwner = size,
}: {
  size: number
  perOwner?: number
}): FairQueue {
  /** Who waits, in the order of their turns. */
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

  /** Lets the next ones begin; whoever had a turn is last from then on. */
  function admit(): void {
    for (const [owner, line] of lines) {
      if (busy >= size) return
      if (!hasRoom(owner)) continue
      const begin = line.shift()
      lines.delete(owner)
      // A map visits a key that is deleted and set again once more in the same loop, after the others.
      if (line.length > 0) lines.set(owner, line)
      if (begin === undefined) continue
      waitingCount -= 1
      enter(owner)
      begin()
    }
  }

  return {
    async run(owner, work) {
      // Others may wait although there is room: for their own earlier work.
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
