// Backup and restore of the database, for `npm run backup` and `npm run restore`. Workspaces and the secret key are not in it.
import { existsSync } from 'node:fs'
import { copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import SqliteClient from 'better-sqlite3'
import { AppError, errorText } from '../errors.ts'
import type { DatabaseSettings } from './database.ts'
import { migrationsTable, pendingMigrations } from './migrate.ts'
import { dumpPostgres, loadPostgres } from './postgres/backup.ts'

export type BackupReport = {
  file: string
  bytes: number
}

/**
 * Writes everything that was acknowledged before the call into one new file, readable by its owner only. The server may
 * run and write meanwhile. SQLite: a SQLite file. PostgreSQL: one line of JSON per row.
 * @throws AppError with a text for the operator; the target is then not there.
 */
export async function backupDatabase(
  settings: DatabaseSettings,
  target: string,
): Promise<BackupReport> {
  const file = resolve(target)
  if (existsSync(file)) throw new AppError('conflict', `${file} exists already: name a new file.`)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  // Whole or not at all: a backup that was broken off never has the name that was asked for.
  const unfinished = `${file}.unfinished`
  await rm(unfinished, { force: true })
  try {
    if (settings.dialect === 'sqlite') await dumpSqlite(resolve(settings.file), unfinished)
    else await dumpPostgres(settings, unfinished)
    await rename(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw unsuccessful('The backup could not be made', error)
  }
  return { file, bytes: (await stat(file)).size }
}

/**
 * Puts a backup in the place of the database. No server may be running on it. What was there is kept beside it (SQLite)
 * or stays as it was when anything fails (PostgreSQL: one transaction).
 * @throws AppError with a text for the operator.
 */
export async function restoreDatabase(settings: DatabaseSettings, source: string): Promise<void> {
  const file = resolve(source)
  if (!existsSync(file)) throw new AppError('not_found', `There is no backup ${file}.`)
  try {
    if (settings.dialect === 'sqlite') await loadSqlite(file, resolve(settings.file))
    else await loadPostgres(settings, file)
  } catch (error) {
    throw unsuccessful('The backup could not be restored', error)
  }
}

const unsuccessful = (what: string, error: unknown): AppError =>
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
  if (!existsSync(file)) throw new AppError('not_found', `There is no database ${file}.`)
  const client = new SqliteClient(file, { readonly: true, fileMustExist: true })
  try {
    // One reading transaction: writers go on, and what they write is not seen. (`.backup()` would begin again at each write.)
    client.prepare('vacuum into ?').run(target)
  } finally {
    client.close()
  }
  await syncFile(target)
}

/** Refuses what is no sound database of ours, or one of a newer program. */
function checkSqliteBackup(file: string): void {
  const client = new SqliteClient(file, { readonly: true, fileMustExist: true })
  try {
    if (client.pragma('integrity_check', { simple: true }) !== 'ok')
      throw new AppError('bad_request', `${file} is damaged.`)
    const applied = client.prepare(`select created_at from ${migrationsTable}`).pluck().all()
    pendingMigrations('sqlite', applied.map(Number))
  } finally {
    client.close()
  }
}

/** Takes the old database out of the way: complete in its one file, and under another name. */
async function setAside(file: string): Promise<void> {
  if (!existsSync(file)) return
  const client = new SqliteClient(file, { timeout: 1_000 })
  try {
    // Leaving WAL needs to be alone with the file, and takes all that is still in the WAL into it.
    client.pragma('journal_mode = delete')
  } catch (error) {
    throw new AppError('store_busy', 'The database is in use: stop the server first.', {
      cause: error,
    })
  } finally {
    client.close()
  }
  await rename(file, `${file}.before-restore-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`)
}

async function loadSqlite(source: string, file: string): Promise<void> {
  checkSqliteBackup(source)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const copy = `${file}.restoring`
  await copyFile(source, copy)
  await syncFile(copy)
  await setAside(file)
  await rename(copy, file)
}
