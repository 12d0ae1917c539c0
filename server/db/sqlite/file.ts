// Opening a SQLite file: its modes, its locks, its migrations.
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import SqliteClient from 'better-sqlite3'
import type { StoreLog } from '../database.ts'
import { migrationsTable, pendingMigrations } from '../migrate.ts'
import { isSqliteBusy, translateSqliteError } from './client.ts'

/** Milliseconds between two tries to get a lock; the first grows to the longest. */
const retryDelay = { first: 2, longest: 50 }

/** Tries until the lock is free or the deadline (of `performance.now`) has passed, without ever blocking the event loop. */
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
  // `timeout: 0`: a busy handler would wait inside the event loop; we wait for locks ourselves.
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
  hasTable(client, migrationsTable)
    ? client.prepare(`select created_at from ${migrationsTable}`).pluck().all().map(Number)
    : []

/** Applies what is missing in one transaction, after copying a database that holds data aside. */
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
    // Looked up again: another instance may have been quicker while we waited for the lock.
    const pending = pendingMigrations('sqlite', appliedMigrations(client))
    client.exec(
      `create table if not exists ${migrationsTable} (id integer primary key, hash text not null, created_at numeric)`,
    )
    const note = client.prepare(`insert into ${migrationsTable} (hash, created_at) values (?, ?)`)
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
 * Opens a file with its tables up to date: the connection that writes first, because only it may make the file.
 * Folder and file are made readable by their owner only.
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
    // From here on the sync after each commit is made off the event loop: see wal-sync.ts.
    await whenFree(deadline, () => writing.pragma('synchronous = NORMAL'))
    return { writing, reading: await whenFree(deadline, () => openClient(file, true)) }
  } catch (error) {
    writing.close()
    throw error
  }
}
