// Inspects a database without changing it: whether it can be used, and which version it has.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import pg from 'pg'
import { AppError, errorText } from '../errors.ts'
import { SqliteClient, type SqliteDatabase } from '../lib/sqlite-driver.ts'
import type { DatabaseSettings, PostgresSettings } from './database.ts'
import { MIGRATIONS_TABLE, pendingMigrations } from './migrate.ts'
import { clientConfig } from './postgres/connect.ts'
import { postgresCode } from './postgres/errors.ts'

/** The state of a database, as the doctor reports it. */
export interface DatabaseState {
  /** Migrations that the next start applies. */
  pending: number
  /** The database has none of NanoClaw's tables yet. */
  isEmpty: boolean
}

/**
 * Reads the state of a database, also while a server uses it.
 * @throws AppError when it cannot be reached or read, or was written by a newer version.
 */
export async function inspectDatabase(settings: DatabaseSettings): Promise<DatabaseState> {
  const applied =
    settings.dialect === 'sqlite'
      ? readSqlite(resolve(settings.file))
      : await readOnly(settings, readPostgres)
  return {
    pending: pendingMigrations(settings.dialect, applied ?? []).length,
    isEmpty: applied === null,
  }
}

/** How PostgreSQL compares vectors: `scan` where the pgvector extension is neither installed nor can be created. */
export const inspectVectors = (settings: PostgresSettings): Promise<'pgvector' | 'scan'> =>
  readOnly(settings, async (client) => {
    const { rows } = await client.query<{ usable: boolean }>(
      `select installed_version is not null
              or has_database_privilege(current_database(), 'create') as usable
       from pg_available_extensions where name = 'vector'`,
    )
    return rows[0]?.usable === true ? 'pgvector' : 'scan'
  })

/**
 * The blobs that files and thumbnails refer to (SHA-256, hexadecimal), read without changing anything. The database must
 * have all migrations.
 */
export async function inspectBlobs(settings: DatabaseSettings): Promise<string[]> {
  const query =
    'select sha256 from files union select thumbnail_sha256 from files where thumbnail_sha256 is not null'
  if (settings.dialect === 'postgres')
    return await readOnly(settings, async (client) => {
      const { rows } = await client.query<{ sha256: string }>(query)
      return rows.map(({ sha256 }) => sha256)
    })
  const client = new SqliteClient(resolve(settings.file), { readonly: true, timeout: 1_000 })
  try {
    return client.prepare(query).pluck().all().map(String)
  } finally {
    client.close()
  }
}

/**
 * The value under a key of the settings; undefined if none is set, or the database has no tables yet. Reads only.
 * @throws AppError when the database cannot be reached or read.
 */
export async function inspectSetting(settings: DatabaseSettings, key: string): Promise<unknown> {
  if (settings.dialect === 'postgres')
    return await readOnly(settings, async (client) => {
      if ((await readPostgres(client)) === null) return undefined
      const { rows } = await client.query<{ value: unknown }>(
        'select value from settings where key = $1',
        [key],
      )
      return rows[0]?.value
    })
  const file = resolve(settings.file)
  if (!existsSync(file) || readSqlite(file) === null) return undefined
  const client = new SqliteClient(file, { readonly: true, timeout: 1_000 })
  try {
    const value = client.prepare('select value from settings where key = ?').pluck().get(key)
    return typeof value === 'string' ? JSON.parse(value) : undefined
  } finally {
    client.close()
  }
}

/** The applied migrations; null when the file has none of NanoClaw's tables. */
function readSqlite(file: string): number[] | null {
  let client: SqliteDatabase | undefined
  try {
    client = new SqliteClient(file, { readonly: true, fileMustExist: true, timeout: 1_000 })
    const table = client
      .prepare("select 1 from sqlite_master where type = 'table' and name = ?")
      .get(MIGRATIONS_TABLE)
    if (table === undefined) return null
    return client.prepare(`select created_at from ${MIGRATIONS_TABLE}`).pluck().all().map(Number)
  } catch (error) {
    throw new AppError(
      'store_unavailable',
      `The database file ${file} cannot be used: ${errorText(error)}`,
      { cause: error },
    )
  } finally {
    client?.close()
  }
}

/** The applied migrations of a PostgreSQL database; null when it has none of NanoClaw's tables. */
async function readPostgres(client: pg.Client): Promise<number[] | null> {
  const { rows: tables } = await client.query<{ name: string | null }>(
    'select to_regclass($1) as name',
    [MIGRATIONS_TABLE],
  )
  if (tables[0]?.name == null) return null
  const { rows } = await client.query<{ created_at: string }>(
    `select created_at from ${MIGRATIONS_TABLE}`,
  )
  return rows.map((row) => Number(row.created_at))
}

/** Runs `work` on a connection on which PostgreSQL refuses writes. */
async function readOnly<T>(
  settings: PostgresSettings,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    ...clientConfig(settings),
    connectionTimeoutMillis: 5_000,
    query_timeout: 5_000,
    application_name: 'nanoclaw doctor',
  })
  // The next statement reports a lost connection; without a listener the event would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('set default_transaction_read_only = on')
    return await work(client)
  } catch (error) {
    throw new AppError(
      'store_unavailable',
      `PostgreSQL cannot be used: ${errorText(error) || postgresCode(error)}`,
      { cause: error },
    )
  } finally {
    await client.end().catch(() => {})
  }
}
