// Decides which process owns a store, performs its runs and sends its messages. One process at a time.
import type { DatabaseSettings } from '../db/database.ts'
import type { OwnerEpochs } from '../db/repositories/runs/owner-epochs.ts'
import { AppError } from '../errors.ts'
import { untilAborted } from '../lib/abort.ts'
import type { ProcessLock } from './process-lock.ts'

/**
 * The ownership of a store, held by a lock for the life of the process. Several instances on one store hold it together;
 * which of them performs a run is decided by leases, and by the run's attempt, which fences every write.
 */
export interface StoreOwner {
  /** Identifies this process among all owners of the store, past and present. */
  readonly instance: string
  /** Incremented by each process that becomes the owner; 0 before `begin`. */
  readonly epoch: number
  /** False while the lock is lost and not yet regained. */
  readonly isHeld: boolean
  /** Records this process as the owner in the store. Call it once, after the migrations. */
  begin(epochs: OwnerEpochs): Promise<void>
  /** Resolves as soon as this process owns the store, nearly always at once. Rejects when the signal is aborted. */
  whenHeld(signal: AbortSignal): Promise<void>
  /** Releases this lock, too, when the store is released. */
  alsoHolds(lock: ProcessLock): void
  /** Releases the store for the next process. */
  release(): Promise<void>
}

/** How a process claims a store. */
export interface ClaimOptions {
  instance: string
  log: {
    info(details: object, message: string): void
    warn(details: object, message: string): void
  }
  /** Called when another process owns the store: this one must stop writing. */
  onTaken(): void
  /** Whether other processes that also set this may own the store, too. PostgreSQL only. */
  isShared?: boolean
}

/** How long a starting process waits for another one to end. */
const WAIT_MS = { sqlite: 1_000, postgres: 3_000 }

const IN_USE =
  'Another NanoClaw process is using this database. Stop it first, or configure a different database. Several processes can share a PostgreSQL database if each has `redis_url` set.'

/** @throws AppError `store_busy` when another process owns the store, `store_unavailable` when it cannot be reached. */
export async function claimStore(
  settings: DatabaseSettings,
  { instance, log, onTaken, isShared = false }: ClaimOptions,
): Promise<StoreOwner> {
  let epochs: OwnerEpochs | null = null
  let epoch = 0
  let isHeld = true
  let waiting: (() => void)[] = []
  const others: ProcessLock[] = []

  const lock = await acquireLock(settings, {
    isShared,
    mayResume: async () => isShared || epochs === null || (await epochs.current()) === epoch,
    onChange(change) {
      isHeld = change === 'regained'
      if (change === 'taken') return onTaken()
      if (change === 'lost')
        return log.warn({}, 'Lost the database lock; no tool runs until it is reacquired.')
      log.info({}, 'Reacquired the database lock.')
      const resume = waiting
      waiting = []
      for (const wake of resume) wake()
    },
  })
  if (lock === null) throw new AppError('store_busy', IN_USE)

  return {
    instance,
    get epoch() {
      return epoch
    },
    get isHeld() {
      return isHeld
    },
    async begin(repository) {
      epoch = await repository.next(instance)
      epochs = repository
    },
    async whenHeld(signal) {
      while (!isHeld) await untilAborted(new Promise<void>((wake) => waiting.push(wake)), signal)
    },
    alsoHolds: (other) => void others.push(other),
    async release() {
      for (const other of others) await other.release()
      await lock.release()
    },
  }
}

type LockOptions = Pick<
  Parameters<typeof import('./postgres-lock.ts').acquirePostgresLock>[1],
  'mayResume' | 'onChange' | 'isShared'
>

// Only the driver in use is loaded, because the other one would cost time and memory at every start.
async function acquireLock(
  settings: DatabaseSettings,
  options: LockOptions,
): Promise<ProcessLock | null> {
  if (settings.dialect === 'sqlite') {
    const { acquireSqliteLock } = await import('./sqlite-lock.ts')
    return acquireSqliteLock(settings.file, WAIT_MS.sqlite)
  }
  const { acquirePostgresLock } = await import('./postgres-lock.ts')
  return acquirePostgresLock(settings, { ...options, waitMs: WAIT_MS.postgres })
}

/** Whether a process owns the store. Changes nothing. @throws AppError if that is unknown. */
export async function isOwned(settings: DatabaseSettings): Promise<boolean> {
  if (settings.dialect === 'sqlite') {
    const { isSqliteLocked } = await import('./sqlite-lock.ts')
    return isSqliteLocked(settings.file)
  }
  const { isPostgresLocked } = await import('./postgres-lock.ts')
  return isPostgresLocked(settings)
}
