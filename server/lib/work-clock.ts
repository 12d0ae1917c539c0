// A time limit that excludes the time spent waiting for a person.

/** Measures working time. The time between `pause` and `resume` does not count; pauses may nest. */
export interface WorkClock {
  pause(): void
  resume(): void
  end(): void
}

/** Starts at once and calls `onLimit` after `limitMs` of working time, unless `end` is called first. */
export function createWorkClock(limitMs: number, onLimit: () => void): WorkClock {
  let left = limitMs
  let since = performance.now()
  let pauses = 0
  let timer = setTimeout(onLimit, left)
  timer.unref()
  return {
    pause() {
      pauses += 1
      if (pauses > 1) return
      clearTimeout(timer)
      left -= performance.now() - since
    },
    resume() {
      pauses -= 1
      if (pauses > 0) return
      since = performance.now()
      timer = setTimeout(onLimit, Math.max(0, left))
      timer.unref()
    },
    end: () => clearTimeout(timer),
  }
}
