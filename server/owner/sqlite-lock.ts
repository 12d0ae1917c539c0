// The owner's lock of a SQLite store: an operating system lock on a file next to the database.

import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, errorText } from '../errors.ts'
import { createLockFile, tryLock } from '../lib/file-lock.ts'
import { makeFolder } from '../lib/make-folder.ts'
import type { ProcessLock } from './process-lock.ts'

const RETRY_MS = 50

/** The lock file of a database. Two paths to one file (symbolic links) share it. */
export function lockFileOf(databaseFile: string): string {
  const file = resolve(databaseFile)
  const real = existsSync(file)
    ? realpathSync(file)
    : join(realpathSync(dirname(file)), basename(file))
  return `${real}.lock`
}

/**
 * Acquires the lock of a database file, or returns null when another process still holds it after `waitMs`.
 *
 * The database itself can't be locked this way: backups read it while the server runs. The lock file stays when the lock is
 * gone; removing it would let two processes lock two files of one name.
 * @throws AppError when the file can't be created or locked at all.
 */
export async function acquireSqliteLock(
  databaseFile: string,
  waitMs: number,
): Promise<ProcessLock | null> {
  try {
    makeFolder(dirname(resolve(databaseFile)))
    const file = lockFileOf(databaseFile)
    createLockFile(file)
    const deadline = performance.now() + waitMs
    for (;;) {
      const client = tryLock(file)
      if (client !== null) return { release: async () => void client.close() }
      if (performance.now() >= deadline) return null
      await sleep(RETRY_MS)
    }
  } catch (error) {
    throw new AppError(
      'store_unavailable',
      `The database file ${resolve(databaseFile)} cannot be used: its lock file cannot be created (${errorText(error)}).`,
      { cause: error },
    )
  }
}

/** Whether a process holds the lock of this database file. Creates nothing. */
export function isSqliteLocked(databaseFile: string): boolean {
  if (!existsSync(dirname(resolve(databaseFile)))) return false
  const file = lockFileOf(databaseFile)
  if (!existsSync(file)) return false
  const client = tryLock(file)
  client?.close()
  return client === null
}
