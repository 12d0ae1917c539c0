// The clock of the process: what time it is, and work that is done again and again.

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
