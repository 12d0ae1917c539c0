// What limits are counted with: in this process, or by all instances of a store together.

/** How much is allowed in which time. */
export interface RateLimitOptions {
  /** Total weight within one window. */
  limit: number
  windowMs: number
}

/** Counts by key, such as a user or a network. */
export interface RateLimit {
  /**
   * Takes `weight` from the key's allowance, which `limit` replaces. Returns null, or the seconds until the next window if
   * it does not fit. Never rejects.
   */
  take(key: string, weight?: number, limit?: number): Promise<number | null>
}

/** What a user may do a number of times at once: a slot is taken for as long as it goes on. */
export interface Slots {
  /** How many of them each key has. */
  readonly limit: number
  /** Takes a slot. Null when all are taken, else what gives it back, which may be called again. Never rejects. */
  take(key: string): Promise<(() => void) | null>
}

/** What instances hold, until further notice, of something that all of them share. */
export interface SharedAmounts {
  /**
   * Says how much of a key's allowance this instance holds from now on: a whole number, which replaces the last one.
   * @returns what the other instances hold at that moment: of two that ask at the same time, the second one sees the first.
   *   Never rejects.
   */
  hold(key: string, amount: number): Promise<number>
}

/** Attempts at something that can be guessed, and how many of them failed, by where they come from and what they aim at. */
export interface AttemptCounts {
  /**
   * Counts an attempt as a failure from its start, so that parallel attempts gain nothing. A source with too many failures
   * is refused. At a target with too many failures, each source that has not failed there still gets one attempt, so that
   * nobody can lock out its owner. Never rejects.
   */
  begin(source: string, target: string): Promise<Attempt | { retryAfterSeconds: number }>
}

/** One attempt. Until one of these is called it counts as a failure that may still be taken back. */
export interface Attempt {
  /** Clears this attempt and the earlier failures at its target. */
  succeeded(): void
  failed(): void
  /** Nothing was tried. */
  withdraw(): void
}

/** Failures within the window after which a source or a target is slowed down. */
export const ATTEMPT_LIMIT = { failures: 10, windowMs: 5 * 60_000 }

/** The limits of this process, or of all instances together. */
export interface Limits {
  /** @param name one for each limit: instances count the same one together. */
  rateLimit(name: string, options: RateLimitOptions): RateLimit
  /** @param name one for each kind: instances count the same one together. */
  slots(name: string, limit: number): Slots
  /** @param name one for each kind: instances add up the same one. */
  amounts(name: string): SharedAmounts
  readonly attempts: AttemptCounts
}
