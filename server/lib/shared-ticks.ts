// A clock for callers that act at an interval: it spreads them over the interval, and those of one tick share a timer.

/** Milliseconds between two ticks. */
export const TICK_MS = 10

/** Timers that callers share. */
export interface SharedTicks {
  /** Returns the slot of a caller: its place among the ticks of every interval. Consecutive callers get different ones. */
  takeSlot(): number
  /** The last tick of the slot that is not after `time` (`performance.now`). The slot has one tick per interval. */
  before(time: number, slot: number, intervalMs: number): number
  /** Calls `callback` at `time`, together with all others that wait for that time. Returns a function that cancels it. */
  at(time: number, callback: () => void): () => void
}

/** Callers that wait for the same time share a timer; use times of `before` to make them the same. */
export function createSharedTicks(): SharedTicks {
  const callbacksByTime = new Map<number, Set<() => void>>()
  let slots = 0

  function begin(time: number): Set<() => void> {
    const callbacks = new Set<() => void>()
    callbacksByTime.set(time, callbacks)
    setTimeout(
      () => {
        callbacksByTime.delete(time)
        for (const callback of callbacks) callback()
      },
      Math.max(0, time - performance.now()),
    )
    return callbacks
  }

  return {
    takeSlot() {
      slots += 1
      return slots
    },
    before(time, slot, intervalMs) {
      const offset = (slot * TICK_MS) % intervalMs
      return Math.floor((time - offset) / intervalMs) * intervalMs + offset
    },
    at(time, callback) {
      const callbacks = callbacksByTime.get(time) ?? begin(time)
      callbacks.add(callback)
      return () => void callbacks.delete(callback)
    },
  }
}
