// An operating system lock on a file, which ends with the process that holds it, however that process ends.
import { closeSync, openSync } from 'node:fs'
import { SqliteClient, type SqliteDatabase } from './sqlite-driver.ts'

/**
 * Creates a file to lock, readable by its owner only. Does not even open an existing one: closing any descriptor of a file
 * drops every lock that this process has on it (POSIX).
 */
export function createLockFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error // Only the code identifies an existing file.
  }
}

/**
 * Locks an existing file until the result is closed. Node has no `flock`, so SQLite takes the lock: an open `BEGIN EXCLUSIVE`
 * on an empty file holds it until the connection closes or the process dies, on every system that SQLite supports.
 * @returns null if another process has locked it. @throws when files cannot be locked there, as on some network file systems.
 */
export function tryLock(file: string): SqliteDatabase | null {
  const client = new SqliteClient(file, { fileMustExist: true, timeout: 0 })
  try {
    // Nothing is written, so that there is nothing to roll back: no journal beside the file.
    client.pragma('journal_mode = memory')
    client.exec('begin exclusive')
    return client
  } catch (error) {
    client.close()
    if (error instanceof SqliteClient.SqliteError && error.code.startsWith('SQLITE_BUSY'))
      return null
    throw error
  }
}
