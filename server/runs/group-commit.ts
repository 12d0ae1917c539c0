// Group commit: combines the writes of many runs into few transactions, and retries while the store is unavailable.

import type { Database, Writer } from '../db/database.ts'
import { inParallel } from '../db/fragments.ts'
import { AppError } from '../errors.ts'
import type { RunId } from '../protocol/ids.ts'

/** What one transaction does. It may be executed more than once; its result is ignored. */
export type Write = (tx: Writer) => Promise<unknown>

/** Milliseconds between attempts while the store is busy, full or unavailable. */
export const RETRY_DELAYS_MS = [100, 250, 500, 1_000, 2_000, 4_000]

/** SQLite statements run on the event loop, which must not be blocked for long. */
const MAX_WRITES_PER_TRANSACTION = 64

/** True for errors while which no write can succeed: the database is busy, full or unreachable. Files are no part of it. */
const isUnavailable = (error: unknown): boolean =>
  error instanceof AppError &&
  error.reason !== 'blobs_unavailable' &&
  (error.code === 'store_busy' || error.code === 'store_unavailable')

const isTransient = (error: unknown): boolean =>
  isUnavailable(error) || (error instanceof AppError && error.code === 'store_full')

/**
 * Retries `action` while the store is busy, full or unavailable. `action` must be idempotent: a transaction may have been
 * committed although its confirmation was lost.
 * @param keepsTrying whether to continue with the last delay after all delays are used up.
 * @param onRetry called before each further attempt.
 */
export async function retryWhileUnavailable<T>(
  action: () => Promise<T>,
  retryDelays: readonly number[],
  keepsTrying: (error: unknown) => boolean,
  onRetry?: () => void,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await action()
    } catch (error) {
      const delay = retryDelays[attempt] ?? (keepsTrying(error) ? retryDelays.at(-1) : undefined)
      if (!isTransient(error) || delay === undefined) throw error
      await new Promise((resolve) => setTimeout(resolve, delay))
      onRetry?.()
    }
  }
}

/** Collects the writes of many runs into shared transactions. */
export interface WriteGroup {
  /**
   * Resolves when the write is durable. The write must be idempotent: it may be executed again, even after a commit. Writes
   * that wait at the same time share one transaction; a failed write does not affect the others.
   * @param run writes of the same run are performed in order. Writes of different runs are performed concurrently, so they
   * must not depend on each other.
   */
  commit(write: Write, run?: RunId): Promise<void>
}

/** A write group that can report when it is idle. */
interface AwaitedWriteGroup extends WriteGroup {
  /** Resolves when no write is in progress or waiting, at the latest after `limitMs`. */
  whenIdle(limitMs: number): Promise<void>
}

interface Waiting {
  write: Write
  run: RunId | undefined
  resolve(): void
  reject(error: unknown): void
}

/**
 * @param retryDelays milliseconds between attempts while the store is unavailable; if empty, a write fails at once.
 * @param keepsTrying whether to retry without limit.
 * @param onRetry called before each further attempt.
 * @param before each transaction waits for this promise.
 */
export function createWriteGroup(
  database: Pick<Database, 'write'>,
  retryDelays: readonly number[],
  keepsTrying: () => boolean = () => false,
  onRetry?: () => void,
  before?: () => Promise<void>,
): AwaitedWriteGroup {
  let waiting: Waiting[] = []
  let isRunning = false
  let waitingForIdle: (() => void)[] = []

  const persist = (writes: readonly Waiting[], delays: readonly number[]): Promise<void> =>
    retryWhileUnavailable(
      () =>
        database.write(async (tx) => {
          await inParallel(...byRun(writes).map((own) => () => performInOrder(tx, own)))
        }),
      delays,
      // If only the batch is too large, its writes are tried one by one first.
      (error) => keepsTrying() && (writes.length === 1 || isUnavailable(error)),
      onRetry,
    )

  async function settle(writes: readonly Waiting[], delays: readonly number[]): Promise<void> {
    try {
      await persist(writes, delays)
      for (const { resolve } of writes) resolve()
    } catch (error) {
      if (writes.length === 1 || isUnavailable(error))
        for (const { reject } of writes) reject(error)
      // One write failed, or the batch does not fit on the disk. Try each separately, without repeating exhausted retries.
      else
        for (const write of writes)
          await settle([write], isTransient(error) && !keepsTrying() ? [] : delays)
    }
  }

  async function drain(): Promise<void> {
    isRunning = true
    while (waiting.length > 0) {
      if (before !== undefined) await before()
      const batch = waiting.slice(0, MAX_WRITES_PER_TRANSACTION)
      waiting = waiting.slice(MAX_WRITES_PER_TRANSACTION)
      await settle(batch, retryDelays)
    }
    isRunning = false
    for (const resolve of waitingForIdle) resolve()
    waitingForIdle = []
  }

  return {
    commit(write, run) {
      return new Promise((resolve, reject) => {
        waiting.push({ write, run, resolve, reject })
        if (!isRunning) void drain()
      })
    },
    async whenIdle(limitMs) {
      if (!isRunning) return
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, limitMs)
        waitingForIdle.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    },
  }
}

/** How long the writes of active runs let new runs go first. */
const STARTS_FIRST_MS = 150

/**
 * Creates two groups: one for what runs store, and `starts` for new runs. A person waits for the first token of a new run,
 * so starts go first, and they fail promptly instead of succeeding late (decision 0018).
 */
export function createRunWrites(
  database: Pick<Database, 'write'>,
  { isDraining, onRetry }: { isDraining(): boolean; onRetry(): void },
): { starts: WriteGroup; writes: WriteGroup } {
  const starts = createWriteGroup(database, [100, 400], () => false, onRetry)
  const startsFirst = () => starts.whenIdle(STARTS_FIRST_MS)
  const keepsTrying = () => !isDraining()
  const writes = createWriteGroup(database, RETRY_DELAYS_MS, keepsTrying, onRetry, startsFirst)
  return { starts, writes }
}

/** The writes of each run, in order. */
function byRun(writes: readonly Waiting[]): Waiting[][] {
  const groups = new Map<RunId | undefined, Waiting[]>()
  for (const write of writes) {
    const own = groups.get(write.run)
    if (own === undefined) groups.set(write.run, [write])
    else own.push(write)
  }
  return [...groups.values()]
}

async function performInOrder(tx: Writer, writes: readonly Waiting[]): Promise<void> {
  for (const { write } of writes) await write(tx)
}

/** A growing text is stored this often, well within the promised second. */
const STORE_MS = 500

/** One timer for all texts that wait to be stored. */
export interface StoreMoments {
  /** Calls `callback` at the next moment. Returns the function that cancels it. */
  next(callback: () => void): () => void
}

/** Create one per process. */
export function createStoreMoments(): StoreMoments {
  let waiting = new Set<() => void>()
  let timer: NodeJS.Timeout | undefined

  function come(): void {
    timer = undefined
    const due = waiting
    waiting = new Set()
    for (const callback of due) callback()
  }

  return {
    next(callback) {
      waiting.add(callback)
      timer ??= setTimeout(come, STORE_MS)
      return () => {
        if (!waiting.delete(callback) || waiting.size > 0) return
        clearTimeout(timer)
        timer = undefined
      }
    },
  }
}
