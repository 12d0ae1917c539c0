// Counters for limits: in this process, or shared by all instances of a store.

/** The maximum per time window. */
export interface RateLimitOptions {
  /** Total weight within one window. */
  limit: number
  windowMs: number
}

/** Counts by key, such as a user or a network. */
export interface RateLimit {
  /**
   * Takes `weight` from the key's allowance, or from `limit` if given. Resolves to null, or to the seconds until the next
   * window if it does not fit. Never rejects.
   */
  acquire(key: string, weight?: number, limit?: number): Promise<number | null>
}

/** Limits how many times a user may do something at once. A slot is taken for the duration. */
export interface Slots {
  /** The number of slots per key. */
  readonly limit: number
  /**
   * Takes a slot. Resolves to null if all are taken, otherwise to a function that releases it, which may be called more
   * than once. Never rejects.
   */
  acquire(key: string): Promise<(() => void) | null>
}

/** Amounts that each instance holds of something that all instances share. */
export interface SharedAmounts {
  /**
   * Sets how much of a key's allowance this instance holds: a whole number that replaces the previous one.
   * @returns what the other instances hold at that moment. Of two simultaneous calls, the second sees the first.
   * Never rejects.
   */
  hold(key: string, amount: number): Promise<number>
}

/** Counts attempts at something that can be guessed, and failures among them, by source and by target. */
export interface AttemptCounts {
  /**
   * Counts an attempt as a failure from its start, so that parallel attempts gain nothing. A source with too many failures
   * is refused. At a target with too many failures, each source that has not failed there still gets one attempt, so that
   * nobody can lock out its owner. Never rejects.
   */
  begin(source: string, target: string): Promise<Attempt | { retryAfterSeconds: number }>
}

/** One attempt. Until a method is called, it counts as a failure that can still be withdrawn. */
export interface Attempt {
  /** Clears this attempt and the earlier failures at its target. */
  succeeded(): void
  failed(): void
  /** Call it if nothing was tried. */
  withdraw(): void
}

/** Number of failures within the window after which a source or target is slowed down. */
export const ATTEMPT_LIMIT = { failures: 10, windowMs: 5 * 60_000 }

/** The limits of this process, or those of all instances together. */
export interface Limits {
  /** @param name unique per limit; instances with the same name count together. */
  rateLimit(name: string, options: RateLimitOptions): RateLimit
  /** @param name unique per kind; instances with the same name count together. */
  slots(name: string, limit: number): Slots
  /** @param name unique per kind; instances with the same name share the amounts. */
  amounts(name: string): SharedAmounts
  readonly attempts: AttemptCounts
}
