// An exclusive lock that ends with the process that holds it, however that process ends.

/** What became of a lock that its server dropped. */
export type LockChange =
  /** The connection broke. Nobody is known to hold the lock; this process tries to get it back. */
  | 'lost'
  /** This process holds the lock again. */
  | 'regained'
  /** Another process holds it now. */
  | 'taken'

/** A lock that was acquired. */
export interface ProcessLock {
  /** Gives the lock up. Safe to call twice. */
  release(): Promise<void>
}

/** How a lock reports changes that nobody asked for. `lost` is always followed by `regained` or `taken`, or by `release`. */
export type OnLockChange = (change: LockChange) => void
