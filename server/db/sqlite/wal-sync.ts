// Makes SQLite's commits durable without stopping the event loop: the write-ahead log is synced in the thread pool.
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { appError } from '../../errors.ts'

export interface WalSync {
  /** Fulfils when every commit made before the call is on the disk; those that ask together share one sync. */
  durable(): Promise<void>
  close(): Promise<void>
}

/**
 * The connection commits with `synchronous = NORMAL`, which leaves out nothing but the sync of the log after a commit
 * (https://www.sqlite.org/pragma.html#pragma_synchronous). That sync is made here, before a commit is told as done: what
 * was told is as safe as with `FULL`. SQLite would make it inside the event loop, which a slow disk then stops for
 * every stream; and here the commits of one moment share it.
 *
 * @param logFile the database's `-wal` file. It lives as long as the connection does.
 */
export function createWalSync(logFile: string): WalSync {
  let file: Promise<FileHandle> | undefined
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  async function sync(): Promise<void> {
    // One that could not be opened (too many files are) is tried again by whoever comes next.
    file ??= open(logFile, constants.O_RDWR).catch((error: unknown) => {
      file = undefined
      throw error
    })
    try {
      const handle = await file
      await handle.datasync()
    } catch (error) {
      // The rows are there, so nobody may write them again: this is no fault that asking once more would mend.
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
    durable() {
      if (running === undefined) return start()
      // The one that is under way may have begun before the commit: the next one counts, for all who ask until then.
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
