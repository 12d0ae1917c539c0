// Opening a SQLite file: modes, locks, migrations.
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SqliteClient, type SqliteDatabase } from '../../lib/sqlite-driver.ts'
import type { StoreLog } from '../database.ts'
import { MIGRATIONS_TABLE, pendingMigrations } from '../migrate.ts'
import { isSqliteBusy, translateSqliteError } from './client.ts'

/** Pauses between attempts to get a lock: each is twice as long as the one before, up to `longest`. */
const RETRY_DELAY_MS = { first: 2, longest: 50 }

/**
 * Retries while a lock is held, without blocking the event loop.
 * @param deadline when to give up, on the clock of `performance.now`.
 * @throws the translated error of the last attempt.
 */
export async function retryWhileBusy<T>(deadline: number, action: () => T): Promise<T> {
  for (let delay = RETRY_DELAY_MS.first; ; delay = Math.min(delay * 2, RETRY_DELAY_MS.longest)) {
    try {
      return action()
    } catch (error) {
      if (!isSqliteBusy(error) || performance.now() >= deadline) throw translateSqliteError(error)
    }
    await sleep(delay)
  }
}

function openClient(file: string, readonly: boolean): SqliteDatabase {
  // SQLite's own busy timeout would block the event loop; `retryWhileBusy` waits for locks instead.
  const client = new SqliteClient(file, { readonly, fileMustExist: true, timeout: 0 })
  try {
    client.pragma('foreign_keys = ON')
    client.pragma('synchronous = FULL')
  } catch (error) {
    client.close()
    throw error
  }
  return client
}

const hasTable = (client: SqliteDatabase, name: string): boolean =>
  client.prepare(`select 1 from sqlite_master where type = 'table' and name = ?`).get(name) !==
  undefined

const appliedMigrations = (client: SqliteDatabase): number[] =>
  hasTable(client, MIGRATIONS_TABLE)
    ? client.prepare(`select created_at from ${MIGRATIONS_TABLE}`).pluck().all().map(Number)
    : []

/** Applies missing migrations in one transaction, after backing up a database that contains data. */
async function migrate(
  client: SqliteDatabase,
  file: string,
  log: StoreLog,
  deadline: number,
): Promise<void> {
  if (pendingMigrations('sqlite', appliedMigrations(client)).length === 0) return
  if (hasTable(client, 'users')) {
    const copy = `${file}.before-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
    await retryWhileBusy(deadline, () => client.prepare('vacuum into ?').run(copy))
    chmodSync(copy, 0o600)
    log.info({ copy }, `copied the database to ${copy} before changing its tables`)
  }
  await retryWhileBusy(deadline, () => client.exec('begin exclusive'))
  try {
    // Checked again: another process may have migrated while this one waited for the lock.
    const pending = pendingMigrations('sqlite', appliedMigrations(client))
    client.exec(
      `create table if not exists ${MIGRATIONS_TABLE} (id integer primary key, hash text not null, created_at numeric)`,
    )
    const recordMigration = client.prepare(
      `insert into ${MIGRATIONS_TABLE} (hash, created_at) values (?, ?)`,
    )
    for (const migration of pending) {
      for (const statement of migration.sql) client.exec(statement)
      recordMigration.run(migration.hash, migration.folderMillis)
    }
    client.exec('commit')
  } finally {
    if (client.inTransaction) client.exec('rollback')
  }
}

/**
 * Opens and migrates a file, creating it if necessary; folder and file are readable by their owner only.
 * @throws AppError when a lock is held for more than eight seconds; otherwise the driver's error.
 */
export async function openSqliteFile(
  file: string,
  log: StoreLog,
): Promise<{ writing: SqliteDatabase; reading: SqliteDatabase }> {
  const deadline = performance.now() + 8_000
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  closeSync(openSync(file, 'a', 0o600))
  chmodSync(file, 0o600)
  const writing = await retryWhileBusy(deadline, () => openClient(file, false))
  try {
    await retryWhileBusy(deadline, () => writing.pragma('journal_mode = WAL'))
    await migrate(writing, file, log, deadline)
    // From here on, the sync after each commit happens off the event loop: see wal-sync.ts.
    await retryWhileBusy(deadline, () => writing.pragma('synchronous = NORMAL'))
    return { writing, reading: await retryWhileBusy(deadline, () => openClient(file, true)) }
  } catch (error) {
    writing.close()
    throw error
  }
}
