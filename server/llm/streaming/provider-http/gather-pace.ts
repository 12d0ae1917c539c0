// For how long the text of streams is gathered before it is read: 50 ms, and more only while the process is late.

/** Milliseconds, while the process has time. */
const GATHER_MS = 50
/** At most, because tokens must not be 100 ms late. Each piece that is read costs the same, however long it is (decision 0018). */
const MAX_GATHER_MS = 80
const STEP_MS = 10
/** Ticks that are later say that the process has no time. */
const LATE_MS = 12
/** Ticks that are less late say that it has. */
const ON_TIME_MS = 3
/** Milliseconds between two changes: more text at once helps soon, but that there is time again must last. */
const SLOWER_AFTER_MS = 200
const FASTER_AFTER_MS = 500

/** Follows how late the process is. */
export interface GatherPace {
  /** Milliseconds to gather text for, at this time. `lateMs`: by how much recent timers were late. */
  at(now: number, lateMs: number): number
}

/** Create one per process. */
export function createGatherPace(): GatherPace {
  let gatherMs = GATHER_MS
  let changedAt = Number.NEGATIVE_INFINITY
  const change = (now: number, by: number): void => {
    gatherMs = Math.min(MAX_GATHER_MS, Math.max(GATHER_MS, gatherMs + by))
    changedAt = now
  }
  return {
    at(now, lateMs) {
      if (lateMs > LATE_MS && now - changedAt >= SLOWER_AFTER_MS) change(now, STEP_MS)
      else if (lateMs < ON_TIME_MS && now - changedAt >= FASTER_AFTER_MS) change(now, -STEP_MS)
      return gatherMs
    },
  }
}
