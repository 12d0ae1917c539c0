// Clocks: what time it is and work that is done again and again; and a time limit that excludes the time spent waiting for a person.
import { setTimeout as wait } from 'node:timers/promises'

/** The time as this process sees it. Tests replace it by one that they move. */
export interface ProcessClock {
  now(): Date
  /** Does `work` every `ms` milliseconds; it does not keep the process alive. Returns a function that ends this. */
  every(ms: number, work: () => Promise<void>): () => void
  /**
   * Does `work` once, in `ms` milliseconds; it does not keep the process alive. It comes late after the machine has slept or
   * its clock was set forward. Returns a function that ends this.
   */
  after(ms: number, work: () => Promise<void>): () => void
}

/** The clock of this machine. */
export const machineClock: ProcessClock = {
  now: () => new Date(),
  every(ms, work) {
    const timer = setInterval(() => void work(), ms).unref()
    return () => clearInterval(timer)
  },
  after(ms, work) {
    const timer = setTimeout(() => void work(), ms).unref()
    return () => clearTimeout(timer)
  },
}

/** How often the clock is read: timers do not count the time in which a machine sleeps. */
const READ_EVERY_MS = 1_000

/** True once the time has passed; false if the signal aborts first, or already is. It does not keep the process alive. */
export async function passed(time: Date, now: () => Date, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    if (signal.aborted) return false
    const left = time.getTime() - now().getTime()
    if (left <= 0) return true
    // An abort ends the loop.
    const ms = Math.min(left, READ_EVERY_MS)
    await wait(ms, undefined, { signal, ref: false }).catch(() => undefined)
  }
}

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
