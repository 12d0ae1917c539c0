// Joins the writes of many runs into few transactions, and can outlast a store that is away.

import type { Database, Writer } from '../db/database.ts'
import { AppError } from '../errors.ts'

export type Write = (tx: Writer) => Promise<void>

/** Waits, in milliseconds, between tries while the store is busy, full or away. */
export const RETRY_DELAYS_MS = [100, 250, 500, 1_000, 2_000, 4_000]

/** Writes in one transaction at most: statements of SQLite run on the event loop, which must not stand still for long. */
const TOGETHER = 64

/** No write can succeed now, whichever it is. */
const isAway = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'store_busy' || error.code === 'store_unavailable')

const isPassing = (error: unknown): boolean =>
  isAway(error) || (error instanceof AppError && error.code === 'store_full')

/**
 * Does again what a store that is busy, full or away did not take. What it does must have its effect once, however
 * often it is done: a transaction may have been committed although its confirmation was lost.
 * @param isOutlasting whether to go on with the last delay when all are used up.
 */
export async function outlast<T>(
  action: () => Promise<T>,
  retryDelays: readonly number[],
  isOutlasting: (error: unknown) => boolean,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await action()
    } catch (error) {
      const delay = retryDelays[attempt] ?? (isOutlasting(error) ? retryDelays.at(-1) : undefined)
      if (!isPassing(error) || delay === undefined) throw error
      await new Promise((resolve) => setTimeout(resolve, delay))
    }
  }
}

export interface WriteGroup {
  /**
   * Resolves when the write is durable; it may be run again, also after it was committed. Writes that wait together
   * share one transaction, in the order of asking; a write that fails takes none of the others with it.
   */
  commit(write: Write): Promise<void>
}

interface Waiting {
  write: Write
  resolve(): void
  reject(error: unknown): void
}

/**
 * @param retryDelays waits before the tries for a store that does not take writes; none: a fault is thrown at once.
 * @param isOutlasting whether to wait for such a store without an end.
 */
export function createWriteGroup(
  database: Pick<Database, 'write'>,
  retryDelays: readonly number[],
  isOutlasting: () => boolean = () => false,
): WriteGroup {
  let waiting: Waiting[] = []
  let isRunning = false

  const persist = (writes: readonly Waiting[], delays: readonly number[]): Promise<void> =>
    outlast(
      () =>
        database.write(async (tx) => {
          for (const { write } of writes) await write(tx)
        }),
      delays,
      // What may only be too much together is tried one by one first.
      (error) => isOutlasting() && (writes.length === 1 || isAway(error)),
    )

  async function settle(writes: readonly Waiting[], delays: readonly number[]): Promise<void> {
    try {
      await persist(writes, delays)
      for (const { resolve } of writes) resolve()
    } catch (error) {
      if (writes.length === 1 || isAway(error)) for (const { reject } of writes) reject(error)
      // One of them is at fault, or too large for what is left of the disk: each for itself. What was outlasted in
      // vain once is not outlasted again for each of them.
      else
        for (const write of writes)
          await settle([write], isPassing(error) && !isOutlasting() ? [] : delays)
    }
  }

  async function drain(): Promise<void> {
    isRunning = true
    while (waiting.length > 0) {
      const batch = waiting.slice(0, TOGETHER)
      waiting = waiting.slice(TOGETHER)
      await settle(batch, retryDelays)
    }
    isRunning = false
  }

  return {
    commit(write) {
      return new Promise((resolve, reject) => {
        waiting.push({ write, resolve, reject })
        if (!isRunning) void drain()
      })
    },
  }
}
