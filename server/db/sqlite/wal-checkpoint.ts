// Moves committed pages from SQLite's write-ahead log into the database file, on a worker thread (decision 0008).
import { errorText } from '../../errors.ts'
import type { SqliteDatabase } from '../../lib/sqlite-driver.ts'
import { createWorkerClient } from '../../lib/worker-client.ts'
import type { StoreLog } from '../database.ts'
import type { CheckpointReply } from './wal-checkpoint.child.ts'

/** From so many pages in the log that are not in the file, they are moved: 16 MB at SQLite's page size of 4 KB. */
export const CHECKPOINT_PAGES = 4_000
/**
 * From this length of the log (128 MB), SQLite moves its pages itself, within a commit: if the thread fails or cannot keep up.
 * Far above the other limit, because a thread takes a moment to start, and this would block the event loop for 0.1 s.
 */
export const LONGEST_LOG_PAGES = 32_000
/** A log that had to grow beyond this is shortened to it when it starts again. */
const KEPT_LOG_BYTES = 64 * 1024 * 1024
/** How long after a commit the log's length is read; commits meanwhile are included. */
const CHECK_MS = 100
const TIMEOUT_MS = 60_000
/** The thread takes 20 MB. */
const IDLE_MS = 10_000

/** Keeps the write-ahead log short. */
export interface WalCheckpoint {
  /** Call it after each commit. It does not wait; if the log has grown long, its pages are moved soon. */
  afterCommit(): void
  close(): Promise<void>
}

/**
 * @param writing the only connection that commits.
 * @param pauseWrites runs `work` while no transaction is open.
 */
export function createWalCheckpoint(
  file: string,
  writing: SqliteDatabase,
  pauseWrites: (work: () => Promise<void>) => Promise<void>,
  log: StoreLog,
): WalCheckpoint {
  writing.pragma(`wal_autocheckpoint = ${LONGEST_LOG_PAGES}`)
  writing.pragma(`journal_size_limit = ${KEPT_LOG_BYTES}`)
  // Reports the pages in the log and those of them that were moved: https://www.sqlite.org/pragma.html#pragma_wal_checkpoint
  const lengths = writing.prepare<[], [busy: number, pages: number, moved: number]>(
    'pragma wal_checkpoint(NOOP)',
  )
  lengths.raw(true)
  const client = createWorkerClient<null, CheckpointReply>('db/sqlite/wal-checkpoint.child', {
    worker: { argv: [file] },
    startTimeoutMs: TIMEOUT_MS,
    idleMs: IDLE_MS,
    timeoutError: (ms) => new Error(`moving the write-ahead log took more than ${ms} ms`),
  })
  let timer: NodeJS.Timeout | undefined
  let isRunning = false
  let isClosed = false

  const pagesToMove = (): number => {
    const [, pages = 0, moved = 0] = lengths.get() ?? []
    return pages - moved
  }
  async function movePages(): Promise<void> {
    const { failure } = await client.request(null, { timeoutMs: TIMEOUT_MS })
    if (failure !== undefined) throw new Error(failure)
  }

  /** Nothing is lost: a later commit tries again, or SQLite does it itself. */
  function report(error: unknown): void {
    if (!isClosed)
      log.warn({ err: error }, `the write-ahead log was not moved: ${errorText(error)}`)
  }

  /**
   * Moves most pages while writes go on. The log only starts again once everything in it was moved, so writes wait until the
   * few pages that came meanwhile are moved too.
   */
  async function checkpoint(): Promise<void> {
    isRunning = true
    try {
      await movePages()
      await pauseWrites(async () => {
        if (!isClosed && pagesToMove() > 0) await movePages()
      })
    } catch (error) {
      report(error)
    } finally {
      isRunning = false
    }
  }

  function check(): void {
    timer = undefined
    try {
      // SQLite refuses the question within a transaction. Its commit asks again.
      if (!writing.inTransaction && pagesToMove() >= CHECKPOINT_PAGES) void checkpoint()
    } catch (error) {
      report(error)
    }
  }

  return {
    afterCommit() {
      if (!isRunning && !isClosed) timer ??= setTimeout(check, CHECK_MS).unref()
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await client.close()
    },
  }
}
