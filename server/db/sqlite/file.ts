// Opening a SQLite file: modes, locks, migrations.
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import SqliteClient from 'better-sqlite3'
import type { StoreLog } from '../database.ts'
import { MIGRATIONS_TABLE, pendingMigrations } from '../migrate.ts'
import { isSqliteBusy, translateSqliteError } from './client.ts'

/** Milliseconds between two attempts to get a lock, growing from the first to the longest. */
const retryDelay = { first: 2, longest: 50 }

/**
 * Retries until the lock is free or the deadline (of `performance.now`) has passed, without blocking the event loop.
 */
export async function whenFree<T>(deadline: number, action: () => T): Promise<T> {
  for (let delay = retryDelay.first; ; delay = Math.min(delay * 2, retryDelay.longest)) {
    try {
      return action()
    } catch (error) {
      if (!isSqliteBusy(error) || performance.now() >= deadline) throw translateSqliteError(error)
    }
    await sleep(delay)
  }
}

function openClient(file: string, readonly: boolean): SqliteClient.Database {
  // `timeout: 0`, because a busy handler would block the event loop; waiting for locks happens here.
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

const hasTable = (client: SqliteClient.Database, name: string): boolean =>
  client.prepare(`select 1 from sqlite_master where type = 'table' and name = ?`).get(name) !==
  undefined

const appliedMigrations = (client: SqliteClient.Database): number[] =>
  hasTable(client, MIGRATIONS_TABLE)
    ? client.prepare(`select created_at from ${MIGRATIONS_TABLE}`).pluck().all().map(Number)
    : []

/** Applies missing migrations in one transaction, after copying a database with data. */
async function migrate(
  client: SqliteClient.Database,
  file: string,
  log: StoreLog,
  deadline: number,
): Promise<void> {
  if (pendingMigrations('sqlite', appliedMigrations(client)).length === 0) return
  if (hasTable(client, 'users')) {
    const copy = `${file}.before-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
    await whenFree(deadline, () => client.prepare('vacuum into ?').run(copy))
    chmodSync(copy, 0o600)
    log.info({ copy }, `The database was copied to ${copy} before its tables are changed.`)
  }
  await whenFree(deadline, () => client.exec('begin exclusive'))
  try {
    // Checked again: another process may have migrated while this one waited for the lock.
    const pending = pendingMigrations('sqlite', appliedMigrations(client))
    client.exec(
      `create table if not exists ${MIGRATIONS_TABLE} (id integer primary key, hash text not null, created_at numeric)`,
    )
    const note = client.prepare(`insert into ${MIGRATIONS_TABLE} (hash, created_at) values (?, ?)`)
    for (const migration of pending) {
      for (const statement of migration.sql) client.exec(statement)
      note.run(migration.hash, migration.folderMillis)
    }
    client.exec('commit')
  } finally {
    if (client.inTransaction) client.exec('rollback')
  }
}

/**
 * Opens a file and migrates it, the write connection first, because only it may create the file. Folder and file are
 * readable by their owner only.
 */
export async function openSqliteFile(
  file: string,
  log: StoreLog,
): Promise<{ writing: SqliteClient.Database; reading: SqliteClient.Database }> {
  const deadline = performance.now() + 8_000
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  closeSync(openSync(file, 'a', 0o600))
  chmodSync(file, 0o600)
  const writing = await whenFree(deadline, () => openClient(file, false))
  try {
    await whenFree(deadline, () => writing.pragma('journal_mode = WAL'))
    await migrate(writing, file, log, deadline)
    // From here on, the sync after each commit happens off the event loop: see wal-sync.ts.
    await whenFree(deadline, () => writing.pragma('synchronous = NORMAL'))
    return { writing, reading: await whenFree(deadline, () => openClient(file, true)) }
  } catch (error) {
    writing.close()
    throw error
  }
}
