// PostgreSQL as one of the two databases of a move.
import pg from 'pg'
import { AppError } from '../../errors.ts'
import type { PostgresSettings } from '../database.ts'
import { clientConfig } from '../postgres/connect.ts'
import { postgresUnusable } from '../postgres/errors.ts'
import { copyIn } from './copy-in.ts'
import { digestInPostgres, millisecondsInPostgres, type TableDigest } from './digest.ts'
import type { MoveSource, MoveTarget, MoveWriter } from './move-end.ts'
import {
  type ColumnKind,
  DERIVED_TABLES,
  MOVED_TABLES,
  type MovedRow,
  type MovedTable,
  type MovedValue,
  rowsOf,
} from './moved-tables.ts'

/** Few, because one row may be as large as a message with its results. */
const BATCH_ROWS = 50
/** Every value as PostgreSQL's text, which `fromPostgres` reads. */
const AS_TEXT: pg.CustomTypesConfig = { getTypeParser: () => (text: string) => text }

async function open(settings: PostgresSettings): Promise<pg.Client> {
  const client = new pg.Client({
    ...clientConfig(settings),
    connectionTimeoutMillis: 5_000,
    application_name: 'nanoclaw move',
  })
  // The next statement reports a lost connection; without a listener the event would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    // A database or a role may have other defaults, with which values would be read wrongly or not in full.
    await client.query('set bytea_output = hex')
    await client.query('set extra_float_digits = 3')
    const { rows } = await client.query<{ server_encoding: string }>('show server_encoding')
    if (rows[0]?.server_encoding === 'UTF8') return client
  } catch (error) {
    await client.end().catch(() => {})
    throw postgresUnusable(error)
  }
  await client.end().catch(() => {})
  throw new AppError(
    'conflict',
    "The PostgreSQL database has another encoding than UTF8. Create it with: create database nanoclaw encoding 'UTF8' template template0",
  )
}

function fromPostgres(kind: ColumnKind, text: string | null): MovedValue {
  if (text === null) return null
  switch (kind) {
    case 'text':
    case 'json':
      return text
    case 'boolean':
      return text === 't'
    case 'bytes':
      return Buffer.from(text.slice(2), 'hex')
    default:
      return Number(text)
  }
}

async function* rowsIn(client: pg.Client, table: MovedTable): AsyncGenerator<MovedRow> {
  const columns = table.columns.map(({ name, kind }) =>
    kind === 'time' ? millisecondsInPostgres(`"${name}"`) : `"${name}"`,
  )
  // Through a cursor, so that a large table is never in memory as a whole.
  await client.query(
    `declare moved no scroll cursor for select ${columns.join(', ')} from ${rowsOf(table)}`,
  )
  for (;;) {
    const { rows } = await client.query<(string | null)[]>({
      text: `fetch ${BATCH_ROWS} from moved`,
      rowMode: 'array',
      types: AS_TEXT,
    })
    if (rows.length === 0) break
    for (const row of rows)
      yield table.columns.map(({ kind }, at) => fromPostgres(kind, row[at] ?? null))
  }
  await client.query('close moved')
}

async function digestOf(client: pg.Client, table: MovedTable): Promise<TableDigest> {
  const { rows } = await client.query<{ rows: string; sum: string }>(digestInPostgres(table))
  return { rows: Number(rows[0]?.rows), sum: rows[0]?.sum ?? '' }
}

/** Opens a database for reading only. */
export async function openPostgresSource(settings: PostgresSettings): Promise<MoveSource> {
  const client = await open(settings)
  await client.query('begin isolation level repeatable read read only')
  return {
    rows: (table) => rowsIn(client, table),
    computesDigests: true,
    digest: (table) => digestOf(client, table),
    async nextNumber(table) {
      const { rows } = await client.query<{ sequence: string }>(
        'select pg_get_serial_sequence($1, $2) as sequence',
        [table.name, table.counter],
      )
      const found = await client.query<{ next: string }>(
        `select (last_value + is_called::integer)::text as next from ${rows[0]?.sequence}`,
      )
      return Number(found.rows[0]?.next)
    },
    async close() {
      await client.end()
    },
  }
}

function writerOf(client: pg.Client): MoveWriter {
  return {
    insert: (table, rows) => copyIn(client, table, rows),
    async clear() {
      const { rows } = await client.query<{ name: string }>(
        'select tablename as name from pg_tables where schemaname = any (current_schemas(false)) and tablename = any ($1)',
        [[...MOVED_TABLES.map(({ name }) => name), ...Object.keys(DERIVED_TABLES)]],
      )
      await client.query(`truncate ${rows.map(({ name }) => `"${name}"`).join(', ')}`)
    },
    async set(key, json) {
      if (json === null) await client.query('delete from settings where key = $1', [key])
      else
        await client.query(
          'insert into settings (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value',
          [key, json],
        )
    },
    async setNextNumber({ name, counter }, next) {
      await client.query('select setval(pg_get_serial_sequence($1, $2), $3, false)', [
        name,
        counter,
        next,
      ])
    },
  }
}

/** Opens a migrated database for writing. */
export async function openPostgresTarget(settings: PostgresSettings): Promise<MoveTarget> {
  const client = await open(settings)
  return {
    digest: (table) => digestOf(client, table),
    async hasRows(table) {
      const { rows } = await client.query<{ found: boolean }>(
        `select exists (select 1 from ${rowsOf(table)}) as found`,
      )
      return rows[0]?.found === true
    },
    async setting(key) {
      const { rows } = await client.query<{ value: string }>(
        'select value::text as value from settings where key = $1',
        [key],
      )
      return rows[0]?.value ?? null
    },
    async transaction(work) {
      await client.query('begin')
      try {
        await work(writerOf(client))
        await client.query('commit')
      } catch (error) {
        // A lost connection has ended the transaction already.
        await client.query('rollback').catch(() => {})
        throw error
      }
    },
    async close() {
      await client.end()
    },
  }
}
