// The local folders of an installation while a process uses them: a process with a copy of its database, which has the same
// installation id, is refused there meanwhile.
import { createHash } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { DatabaseSettings, StoreLog } from '../db/database.ts'
import { AppError } from '../errors.ts'
import type { ProcessLock } from './process-lock.ts'
import { acquireSqliteLock, isSqliteLocked } from './sqlite-lock.ts'

/** Names the database of the process that holds the folder; its lock is beside it. */
const HOLDER_NAME = '.nanoclaw-running'
/** How long a starting process waits for another one to end. */
const WAIT_MS = 1_000

/** A folder and the configuration key that names it. */
export interface HeldFolder {
  key: string
  path: string
}

/** Names a database without saying where it is. */
export function databaseName(settings: DatabaseSettings): string {
  const hash = createHash('sha256')
  if (settings.dialect === 'sqlite') {
    const file = resolve(settings.file)
    hash.update(`sqlite ${existsSync(file) ? realpathSync(file) : file}`)
  } else if ('url' in settings.connection) {
    const { hostname, port, pathname } = new URL(settings.connection.url)
    hash.update(`postgres ${hostname}:${port === '' ? '5432' : port}${pathname}`)
  } else {
    const { host, port, database } = settings.connection
    hash.update(`postgres ${host}:${port}/${database}`)
  }
  return hash.digest('base64url')
}

/**
 * Holds the folders that exist until the process ends or `release` is called. A folder that cannot be locked, as on some
 * network file systems, is used without a lock.
 * @param database from `databaseName`.
 * @throws AppError with a text for the operator when a process with another database holds one of them.
 */
export async function holdFolders(
  folders: readonly HeldFolder[],
  database: string,
  log: Pick<StoreLog, 'warn'>,
): Promise<ProcessLock> {
  const held: ProcessLock[] = []
  const release = async (): Promise<void> => {
    for (const lock of held.splice(0)) await lock.release()
  }
  try {
    const files = new Set<string>()
    for (const { key, path } of folders.filter((folder) => existsSync(folder.path))) {
      const file = join(realpathSync(path), HOLDER_NAME)
      // Two keys may name one folder, which this process would then wait for.
      if (files.has(file)) continue
      files.add(file)
      try {
        const lock = await acquireSqliteLock(file, WAIT_MS)
        if (lock !== null) {
          held.push(lock)
          await writeFile(file, `${database}\n`, { mode: 0o600 })
          continue
        }
      } catch (error) {
        log.warn({ err: error, folder: path }, `${key} could not be locked`)
        continue
      }
      // A process with the same database may take it over from one that does not answer.
      const holder = (await readFile(file, 'utf8').catch(() => '')).trim()
      if (holder !== '' && holder !== database)
        throw new AppError(
          'store_busy',
          `${key} (${path}) is in use by a running NanoClaw process with another database, of which this one is a copy. Stop that process, or give this database folders of its own (copies of them) and run: nanoclaw admin adopt copy`,
        )
    }
    return { release }
  } catch (error) {
    await release()
    throw error
  }
}

/** Whether a process holds the folder; false where nobody can tell, as in a folder of another user. Creates nothing. */
export function isFolderHeld(path: string, log: Pick<StoreLog, 'warn'>): boolean {
  try {
    return isSqliteLocked(join(path, HOLDER_NAME))
  } catch (error) {
    log.warn({ err: error, folder: path }, 'whether a process uses a folder is unknown')
    return false
  }
}
