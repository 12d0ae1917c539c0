// Makes SQLite's commits durable without blocking the event loop: the write-ahead log is synced in the thread pool.
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { appError } from '../../errors.ts'

/** Syncs the write-ahead log off the event loop (decision 0008). */
export interface WalSync {
  /**
   * Resolves when every commit made before the call is on the disk; concurrent calls share one sync.
   * @throws AppError `disk_unconfirmed` when the sync fails: the commits are written, but may not survive a power failure.
   */
  syncCommits(): Promise<void>
  close(): Promise<void>
}

/**
 * The connection commits with `synchronous = NORMAL`, which omits only the sync of the log after a commit
 * (https://www.sqlite.org/pragma.html#pragma_synchronous). That sync happens here, before a commit is reported, so
 * reported commits are as safe as with `FULL`. SQLite would sync on the event loop, where a slow disk blocks every
 * stream; here concurrent commits also share one sync.
 *
 * @param logFile the database's `-wal` file. It lives as long as the connection.
 */
export function createWalSync(logFile: string): WalSync {
  let file: Promise<FileHandle> | undefined
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  async function sync(): Promise<void> {
    // A log that could not be opened (too many open files) is tried again by the next call.
    file ??= open(logFile, constants.O_RDWR).catch((error: unknown) => {
      file = undefined
      throw error
    })
    try {
      const handle = await file
      await handle.datasync()
    } catch (error) {
      // Not retryable: the rows are written, and a retry would write them twice.
      throw appError('disk_unconfirmed', {}, { cause: error })
    }
  }

  function start(): Promise<void> {
    const one = sync().finally(() => {
      if (running === one) running = undefined
    })
    running = one
    return one
  }

  return {
    syncCommits() {
      if (running === undefined) return start()
      // A sync in progress may have started before the commit. All calls until the next one starts share that one.
      next ??= running
        .catch(() => {})
        .then(() => {
          next = undefined
          return start()
        })
      return next
    },
    async close() {
      await (next ?? running)?.catch(() => {})
      await (await file?.catch(() => undefined))?.close()
      file = undefined
    },
  }
}
