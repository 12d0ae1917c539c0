// Inspects a database without changing it: whether it can be used, and which version it has.
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import pg from 'pg'
import { z } from 'zod'
import { AppError, errorText } from '../errors.ts'
import { SqliteClient, type SqliteDatabase } from '../lib/sqlite-driver.ts'
import type { DatabaseSettings, PostgresSettings } from './database.ts'
import { MIGRATIONS_TABLE, pendingMigrations } from './migrate.ts'
import { clientConfig } from './postgres/connect.ts'
import { postgresUnusable } from './postgres/errors.ts'
import type { SealedKind, SealedValue } from './repositories/sealed.ts'

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

/** The bytes of the database on its disk; 0 if there is none yet. */
export async function inspectSize(settings: DatabaseSettings): Promise<number> {
  if (settings.dialect === 'sqlite') {
    const file = resolve(settings.file)
    const parts = ['', '-wal'].map((suffix) => stat(file + suffix).catch(() => ({ size: 0 })))
    return (await Promise.all(parts)).reduce((sum, { size }) => sum + size, 0)
  }
  return await readOnly(settings, async (client) => {
    const { rows } = await client.query<{ bytes: string }>(
      'select pg_database_size(current_database()) as bytes',
    )
    return Number(rows[0]?.bytes ?? 0)
  })
}

/** What time it is for PostgreSQL, in milliseconds since 1970. */
export const inspectTime = (settings: PostgresSettings): Promise<number> =>
  readOnly(settings, async (client) => {
    const { rows } = await client.query<{ ms: string }>(
      'select extract(epoch from clock_timestamp()) * 1000 as ms',
    )
    return Number(rows[0]?.ms)
  })

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

/** Where sealed values are: table, the columns of its key, and the sealed column. */
const SEALED: readonly {
  kind: SealedKind
  table: string
  ids: readonly [string] | readonly [string, string]
  sealed: string
}[] = [
  { kind: 'model', table: 'models', ids: ['id'], sealed: 'sealed_api_key' },
  { kind: 'channel', table: 'channels', ids: ['id'], sealed: 'sealed_settings' },
  { kind: 'share', table: 'shares', ids: ['id'], sealed: 'sealed_token' },
  { kind: 'mcp_server', table: 'mcp_servers', ids: ['name'], sealed: 'sealed_settings' },
  { kind: 'mcp_grant', table: 'mcp_grants', ids: ['user_id', 'server'], sealed: 'sealed' },
  { kind: 'mcp_client', table: 'mcp_clients', ids: ['issuer', 'redirect_uri'], sealed: 'sealed' },
  { kind: 'totp', table: 'totps', ids: ['user_id'], sealed: 'sealed_secret' },
  { kind: 'id_token', table: 'id_tokens', ids: ['session_id'], sealed: 'sealed' },
  {
    kind: 'idempotency_key',
    table: 'idempotency_keys',
    ids: ['user_id', 'key'],
    sealed: 'sealed_body',
  },
  { kind: 'webhook', table: 'webhooks', ids: ['id'], sealed: 'sealed_secret' },
  { kind: 'earlier_webhook', table: 'webhooks', ids: ['id'], sealed: 'sealed_earlier_secret' },
  { kind: 'schedule_hook', table: 'schedules', ids: ['id'], sealed: 'sealed_hook_secret' },
]
/** Values of each kind that are read: one that was stored with a new key must not hide the others. */
const SEALED_SAMPLE = 5

const SealedRow = z.object({ id: z.string(), second: z.string().nullable(), sealed: z.string() })

/** Some sealed values of each kind, read without changing anything. A PostgreSQL database must have all migrations. */
export async function inspectSealed(settings: DatabaseSettings): Promise<SealedValue[]> {
  const queries = SEALED.map(({ kind, table, ids: [id, second], sealed }) => ({
    kind,
    table,
    column: sealed,
    text: `select cast(${id} as text) as id, ${second === undefined ? 'null' : `cast(${second} as text)`} as second, ${sealed} as sealed from ${table} where ${sealed} is not null limit ${SEALED_SAMPLE}`,
  }))
  const setting = await inspectSetting(settings, 'web_push_key')
  const found = (kind: SealedKind, rows: readonly unknown[]): SealedValue[] =>
    rows.map((row) => {
      const { id, second, sealed } = SealedRow.parse(row)
      return { kind, ids: second === null ? [id] : [id, second], sealed }
    })
  const ofSettings =
    typeof setting === 'string'
      ? [{ kind: 'setting' as const, ids: ['web_push_key'] as const, sealed: setting }]
      : []
  if (settings.dialect === 'postgres')
    return await readOnly(settings, async (client) => {
      const values: SealedValue[] = [...ofSettings]
      for (const { kind, text } of queries)
        values.push(...found(kind, (await client.query(text)).rows))
      return values
    })
  const client = new SqliteClient(resolve(settings.file), { readonly: true, timeout: 1_000 })
  try {
    const has = client.prepare('select 1 from pragma_table_info(?) where name = ?')
    return [
      ...ofSettings,
      // A copy of an earlier version lacks what later ones store.
      ...queries
        .filter(({ table, column }) => has.get(table, column) !== undefined)
        .flatMap(({ kind, text }) => found(kind, client.prepare(text).all())),
    ]
  } finally {
    client.close()
  }
}

/** A project whose files were changed, so that it has a folder. */
const ProjectRow = z.object({ id: z.string(), user: z.string() })

/** All projects that must have a folder, read without changing anything. A PostgreSQL database must have all migrations. */
export async function inspectProjects(
  settings: DatabaseSettings,
): Promise<z.infer<typeof ProjectRow>[]> {
  const text =
    'select cast(id as text) as id, cast(user_id as text) as "user" from projects where exists (select 1 from checkpoints where project_id = projects.id)'
  if (settings.dialect === 'postgres')
    return await readOnly(settings, async (client) =>
      z.array(ProjectRow).parse((await client.query(text)).rows),
    )
  const client = new SqliteClient(resolve(settings.file), { readonly: true, timeout: 1_000 })
  try {
    // A copy of an early version had no checkpoints.
    if (!hasTable(client, 'projects') || !hasTable(client, 'checkpoints')) return []
    return z.array(ProjectRow).parse(client.prepare(text).all())
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
    // A copy of an early version had no settings.
    if (!hasTable(client, 'settings')) return undefined
    const value = client.prepare('select value from settings where key = ?').pluck().get(key)
    return typeof value === 'string' ? JSON.parse(value) : undefined
  } finally {
    client.close()
  }
}

const hasTable = (client: SqliteDatabase, name: string): boolean =>
  client.prepare("select 1 from sqlite_master where type = 'table' and name = ?").get(name) !==
  undefined

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
    throw postgresUnusable(error)
  } finally {
    await client.end().catch(() => {})
  }
}
