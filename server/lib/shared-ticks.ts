// One timer for all callers that wait until about the same moment.

/** Milliseconds between two ticks. */
export const TICK_MS = 10

/** Timers that callers share. */
export interface SharedTicks {
  /** The last tick that is not after `time` (`performance.now`). */
  before(time: number): number
  /** Calls `callback` at `time`, together with all others that wait for that time. Returns a function that cancels it. */
  at(time: number, callback: () => void): () => void
}

/** Callers that wait for the same time share a timer; use times of `before` to make them the same. */
export function createSharedTicks(): SharedTicks {
  const callbacksByTime = new Map<number, Set<() => void>>()

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
    before: (time) => Math.floor(time / TICK_MS) * TICK_MS,
    at(time, callback) {
      const callbacks = callbacksByTime.get(time) ?? begin(time)
      callbacks.add(callback)
      return () => void callbacks.delete(callback)
    },
  }
}
