// Backup and restore of the database alone, as a part of `nanoclaw backup` and `nanoclaw restore`.

import { existsSync } from 'node:fs'
import { copyFile, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { AppError, errorText } from '../errors.ts'
import { makeFolder } from '../lib/make-folder.ts'
import { SqliteClient, type SqliteDatabase } from '../lib/sqlite-driver.ts'
import { connect } from './connect.ts'
import type { DatabaseSettings, PostgresSettings, SqliteSettings } from './database.ts'
import { inspectDatabase } from './inspect.ts'
import { MIGRATIONS_TABLE, pendingMigrations } from './migrate.ts'
import { openPostgresBackup, openSqliteBackup } from './move/backup-source.ts'
import { replaceRows } from './move/move.ts'
import type { MoveSource } from './move/move-end.ts'
import {
  assertUnused,
  blobsOfPostgresBackup,
  checkPostgresBackup,
  dumpPostgres,
  loadPostgres,
  settingOfPostgresBackup,
} from './postgres/backup.ts'
import { clientConfig } from './postgres/connect.ts'
import { migratePostgres } from './postgres/migrate.ts'

/** What a backup contains. */
export type BackupReport = {
  file: string
  bytes: number
}

/**
 * Writes everything that was committed before the call into one new file, readable by its owner only. The server may
 * run and write meanwhile. SQLite: a SQLite file. PostgreSQL: one line of JSON per row.
 * @throws AppError with a text for the operator; the target then does not exist.
 */
export async function backupDatabase(
  settings: DatabaseSettings,
  target: string,
): Promise<BackupReport> {
  const file = resolve(target)
  if (existsSync(file))
    throw new AppError('conflict', `${file} already exists. Choose a new file name.`)
  makeFolder(dirname(file))
  // All or nothing: an interrupted backup never has the requested name.
  const unfinished = `${file}.unfinished`
  await rm(unfinished, { force: true })
  try {
    if (settings.dialect === 'sqlite') await dumpSqlite(resolve(settings.file), unfinished)
    else await dumpPostgres(settings, unfinished)
    await rename(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw toOperatorError('The backup could not be created', error)
  }
  return { file, bytes: (await stat(file)).size }
}

/**
 * Puts a copy that an upgrade made back in place of a SQLite database, which is kept beside it. No server may be running on it.
 * Its projects are measured again, because their files are those of now, and its audit log gets an entry.
 * @returns the file with what the database contained; null if there was none.
 * @throws AppError with a text for the operator.
 */
export async function returnToCopy(
  { file }: SqliteSettings,
  copy: string,
  entry: Readonly<Record<string, string | number | null>>,
): Promise<string | null> {
  try {
    return await loadSqlite(resolve(copy), resolve(file), (client) => {
      const forgotten = ['size', 'history_size'].filter((name) => mayBeNull(client, name))
      if (forgotten.length > 0)
        client.exec(`update projects set ${forgotten.map((name) => `${name} = null`).join(', ')}`)
      const columns = columnsOf(client, 'audit_entries').filter((name) =>
        Object.hasOwn(entry, name),
      )
      if (columns.length > 0)
        client
          .prepare(
            `insert into audit_entries (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
          )
          .run(columns.map((name) => entry[name]))
    })
  } catch (error) {
    throw toOperatorError('The copy could not be put back', error)
  }
}

/** The columns of a table of any version; none if there is no such table. */
const columnsOf = (client: SqliteDatabase, table: string): string[] =>
  client.prepare('select name from pragma_table_info(?)').pluck().all(table).map(String)

/** Whether the size of a project may be unknown, in tables of any version. */
const mayBeNull = (client: SqliteDatabase, column: string): boolean =>
  client
    .prepare('select 1 from pragma_table_info(?) where name = ? and "notnull" = 0')
    .get('projects', column) !== undefined

/**
 * Replaces the database with a backup. No server may be running on it. The old database is kept beside it (SQLite) or
 * unchanged if anything fails (PostgreSQL: one transaction).
 * @param workFolder for a copy of a SQLite backup whose rows are read into PostgreSQL.
 * @returns the file with the old database; null if there is none.
 * @throws AppError with a text for the operator.
 */
export async function restoreDatabase(
  settings: DatabaseSettings,
  source: string,
  workFolder: string,
): Promise<string | null> {
  const file = resolve(source)
  if (!existsSync(file)) throw new AppError('not_found', `Backup ${file} not found.`)
  try {
    const dialect = await dialectOf(file)
    if (settings.dialect === 'sqlite')
      return await (dialect === 'sqlite' ? loadSqlite : loadRowsIntoSqlite)(
        file,
        resolve(settings.file),
      )
    if (dialect === 'postgres') await loadPostgres(settings, file)
    else await loadRowsIntoPostgres(settings, file, workFolder)
    return null
  } catch (error) {
    throw toOperatorError('The backup could not be restored', error)
  }
}

/** @throws AppError when a database, of either kind, cannot be replaced by this backup. Changes nothing. */
export async function checkDatabaseBackup(source: string): Promise<void> {
  try {
    if ((await dialectOf(source)) === 'sqlite') checkSqliteBackup(source)
    else await checkPostgresBackup(source)
  } catch (error) {
    throw toOperatorError('The backup cannot be restored', error)
  }
}

/**
 * The contents that a backup of a database refers to (SHA-256, hexadecimal). One of an early version, which had no files,
 * refers to none.
 */
export async function blobsOfDatabaseBackup(source: string): Promise<string[]> {
  const file = resolve(source)
  if ((await dialectOf(file)) === 'postgres') return await blobsOfPostgresBackup(file)
  const client = new SqliteClient(file, { readonly: true, timeout: 1_000 })
  try {
    const columns = client.prepare("select name from pragma_table_info('files')").pluck().all()
    const found = new Set<string>()
    for (const column of ['sha256', 'thumbnail_sha256'])
      if (columns.includes(column))
        for (const sha256 of client
          .prepare(`select ${column} from files where ${column} is not null`)
          .pluck()
          .all())
          found.add(String(sha256))
    return [...found]
  } finally {
    client.close()
  }
}

/** The value under a key of the settings in a backup; undefined if there is none, as in backups of early versions. */
export async function settingOfDatabaseBackup(source: string, key: string): Promise<unknown> {
  const file = resolve(source)
  if ((await dialectOf(file)) === 'postgres') return await settingOfPostgresBackup(file, key)
  const client = new SqliteClient(file, { readonly: true, timeout: 1_000 })
  try {
    const tables = client.prepare("select name from sqlite_master where type = 'table'").pluck()
    if (!tables.all().includes('settings')) return undefined
    const value = client.prepare('select value from settings where key = ?').pluck().get(key)
    return typeof value === 'string' ? JSON.parse(value) : undefined
  } finally {
    client.close()
  }
}

/**
 * Ensures, before a restore replaces anything, that the rows of a PostgreSQL database can be written to a file and replaced:
 * one of an older version is upgraded, one of a newer version refused. A SQLite file is set aside, whatever it contains.
 * @throws AppError with a text for the operator.
 */
export async function prepareReplaced(settings: DatabaseSettings): Promise<void> {
  if (settings.dialect === 'sqlite') return
  try {
    const { isEmpty, pending } = await inspectDatabase(settings)
    if (!isEmpty && pending > 0) await migratePostgres(clientConfig(settings))
  } catch (error) {
    throw toOperatorError('The database cannot be replaced', error)
  }
}

const toOperatorError = (what: string, error: unknown): AppError =>
  error instanceof AppError
    ? error
    : new AppError('store_unavailable', `${what}: ${errorText(error)}`, { cause: error })

async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r+')
  try {
    await handle.chmod(0o600)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function dumpSqlite(file: string, target: string): Promise<void> {
  if (!existsSync(file)) throw new AppError('not_found', `Database ${file} not found.`)
  const client = new SqliteClient(file, { readonly: true, fileMustExist: true })
  try {
    // One read transaction: writers continue, and their writes are not included. (`.backup()` would start over at
    // each write.)
    client.prepare('vacuum into ?').run(target)
  } finally {
    client.close()
  }
  await syncFile(target)
}

/** How every SQLite file begins; anything else is read as a backup of PostgreSQL, or refused as such. */
const SQLITE_MAGIC = Buffer.from('SQLite format 3\0')

/** The kind of database that a backup is of. */
async function dialectOf(file: string): Promise<DatabaseSettings['dialect']> {
  const handle = await open(file, 'r')
  try {
    const { buffer } = await handle.read(
      Buffer.alloc(SQLITE_MAGIC.length),
      0,
      SQLITE_MAGIC.length,
      0,
    )
    return buffer.equals(SQLITE_MAGIC) ? 'sqlite' : 'postgres'
  } finally {
    await handle.close()
  }
}

/** Refuses files that are not an intact NanoClaw database, or that a newer version wrote. */
function checkSqliteBackup(file: string): void {
  const client = new SqliteClient(file, { readonly: true, fileMustExist: true })
  try {
    if (client.pragma('integrity_check', { simple: true }) !== 'ok')
      throw new AppError('bad_request', `${file} is damaged.`)
    const applied = client.prepare(`select created_at from ${MIGRATIONS_TABLE}`).pluck().all()
    pendingMigrations('sqlite', applied.map(Number))
  } finally {
    client.close()
  }
}

/** Renames the old database, after moving everything from its WAL into the one file if it is not damaged. */
async function setAside(file: string): Promise<string | null> {
  if (!existsSync(file)) return null
  const client = new SqliteClient(file, { timeout: 1_000 })
  try {
    // Leaving WAL mode needs exclusive access to the file, and moves everything from the WAL into it.
    client.pragma('journal_mode = delete')
  } catch (error) {
    if (!isDamage(error))
      throw new AppError('store_busy', 'The database is in use. Stop the server first.', {
        cause: error,
      })
  } finally {
    client.close()
  }
  const aside = `${file}.before-restore-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
  // A damaged one keeps its WAL, which must not become that of the restored database.
  for (const suffix of ['-wal', '-shm'])
    if (existsSync(file + suffix)) await rename(file + suffix, aside + suffix)
  await rename(file, aside)
  return aside
}

const isDamage = (error: unknown): boolean =>
  error instanceof SqliteClient.SqliteError && /^SQLITE_(NOTADB|CORRUPT)/.test(error.code)

/** @param prepare changes the rows before they are in place. */
async function loadSqlite(
  source: string,
  file: string,
  prepare?: (client: SqliteDatabase) => void,
): Promise<string | null> {
  checkSqliteBackup(source)
  makeFolder(dirname(file))
  const copy = `${file}.restoring`
  await copyFile(source, copy)
  if (prepare !== undefined) {
    const client = new SqliteClient(copy)
    try {
      client.transaction(() => prepare(client))()
      // Everything is in the one file that is renamed.
      client.pragma('journal_mode = delete')
    } finally {
      client.close()
    }
  }
  await syncFile(copy)
  const aside = await setAside(file)
  await rename(copy, file)
  return aside
}

/** A backup of PostgreSQL becomes a new SQLite file, which then takes the place of the old one. */
async function loadRowsIntoSqlite(source: string, file: string): Promise<string | null> {
  await checkPostgresBackup(source)
  makeFolder(dirname(file))
  const fresh = `${file}.restoring`
  for (const suffix of ['', '-wal', '-shm']) await rm(fresh + suffix, { force: true })
  const settings = { dialect: 'sqlite' as const, file: fresh }
  await (await connect(settings, { log: { info() {}, warn() {} } })).close()
  await replaceRowsBy(openPostgresBackup(source), settings)
  await syncFile(fresh)
  const aside = await setAside(file)
  await rename(fresh, file)
  return aside
}

async function loadRowsIntoPostgres(
  settings: PostgresSettings,
  source: string,
  workFolder: string,
): Promise<void> {
  checkSqliteBackup(source)
  await migratePostgres(clientConfig(settings))
  await assertUnused(settings)
  await replaceRowsBy(await openSqliteBackup(source, workFolder), settings)
}

async function replaceRowsBy(source: MoveSource, settings: DatabaseSettings): Promise<void> {
  try {
    await replaceRows(source, settings)
  } finally {
    await source.close()
  }
}
