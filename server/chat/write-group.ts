// Joins the writes of many runs into few transactions, and can outlast a store that is away for a while.

import type { Database, Writer } from '../db/database.ts'
import { AppError } from '../errors.ts'

export type Write = (tx: Writer) => Promise<void>

/** Waits, in milliseconds, between tries while the store is busy, full or away; together about a minute. */
export const OUTLAST_DELAYS = [100, 250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000]

/** Writes in one transaction at most: statements of SQLite run on the event loop, which must not stand still for long. */
const TOGETHER = 64

const isPassing = (error: unknown): boolean =>
  error instanceof AppError &&
  (error.code === 'store_busy' || error.code === 'store_unavailable' || error.code === 'store_full')

export interface WriteGroup {
  /**
   * Resolves when the write is durable. Writes that wait together share one transaction, in the order of asking;
   * a write that fails takes none of the others with it.
   */
  commit(write: Write): Promise<void>
}

interface Waiting {
  write: Write
  resolve(): void
  reject(error: unknown): void
}

/** @param retryDelays how long to outlast a store that does not take writes; none: a fault is told at once. */
export function createWriteGroup(database: Database, retryDelays: readonly number[]): WriteGroup {
  let waiting: Waiting[] = []
  let isRunning = false

  async function persist(writes: readonly Waiting[]): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        await database.write(async (tx) => {
          for (const { write } of writes) await write(tx)
        })
        return
      } catch (error) {
        const delay = retryDelays[attempt]
        if (!isPassing(error) || delay === undefined) throw error
        await new Promise((resolve) => setTimeout(resolve, delay))
      }
    }
  }

  async function settle(writes: readonly Waiting[]): Promise<void> {
    try {
      await persist(writes)
      for (const { resolve } of writes) resolve()
    } catch (error) {
      const [only] = writes
      if (writes.length === 1 && only !== undefined) only.reject(error)
      else for (const write of writes) await settle([write])
    }
  }

  async function drain(): Promise<void> {
    isRunning = true
    while (waiting.length > 0) {
      const batch = waiting.slice(0, TOGETHER)
      waiting = waiting.slice(TOGETHER)
      await settle(batch)
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
