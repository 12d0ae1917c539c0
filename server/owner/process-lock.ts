// An exclusive lock that ends with the process that holds it, however that process ends.

/** What happened to a lock that its server dropped. */
export type LockChange =
  /** The connection broke. No other process is known to hold the lock; this one tries to regain it. */
  | 'lost'
  /** This process holds the lock again. */
  | 'regained'
  /** Another process holds it now. */
  | 'taken'

/** A lock that was acquired. */
export interface ProcessLock {
  /** Releases the lock. Safe to call twice. */
  release(): Promise<void>
}

/** How a lock reports changes. `lost` is always followed by `regained` or `taken`, or by `release`. */
export type OnLockChange = (change: LockChange) => void
