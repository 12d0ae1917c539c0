// SQLite as one of the two databases of a move.
import { resolve } from 'node:path'
import { AppError } from '../../errors.ts'
import { SqliteClient, type SqliteDatabase } from '../../lib/sqlite-driver.ts'
import type { SqliteSettings } from '../database.ts'
import { bindableText } from '../drivers.ts'
import { createDigest, type TableDigest } from './digest.ts'
import type { MoveSource, MoveTarget, MoveWriter } from './move-end.ts'
import {
  type ColumnKind,
  columnList,
  DERIVED_TABLES,
  MOVED_TABLES,
  type MovedRow,
  type MovedTable,
  type MovedValue,
  rowsOf,
} from './moved-tables.ts'

const damaged = (table: string, column: string, value: unknown): AppError =>
  new AppError(
    'conflict',
    `${table}.${column} contains a value of the wrong type (${typeof value}); nothing of this table was moved.`,
  )

/** @throws AppError for a value that the schema does not allow, which SQLite stores nevertheless. */
function fromSqlite(
  table: string,
  { name, kind }: { name: string; kind: ColumnKind },
  value: unknown,
): MovedValue {
  if (value === null || value === undefined) return null
  if (kind === 'text' || kind === 'json')
    if (typeof value === 'string') return bindableText(value)
    else throw damaged(table, name, value)
  if (kind === 'bytes')
    if (Buffer.isBuffer(value)) return value
    else throw damaged(table, name, value)
  if (typeof value !== 'number') throw damaged(table, name, value)
  if (kind === 'boolean') return value !== 0
  if (kind !== 'real' && !Number.isSafeInteger(value)) throw damaged(table, name, value)
  return value
}

const toSqlite = (value: MovedValue): Exclude<MovedValue, boolean> =>
  typeof value === 'boolean' ? Number(value) : value

function* rowsIn(client: SqliteDatabase, table: MovedTable): Generator<MovedRow> {
  const statement = client.prepare(`select ${columnList(table)} from ${rowsOf(table)}`).raw()
  // In raw mode, each row is an array of the columns.
  for (const found of statement.iterate())
    if (Array.isArray(found))
      yield table.columns.map((column, at) => fromSqlite(table.name, column, found[at]))
}

async function digestOf(client: SqliteDatabase, table: MovedTable): Promise<TableDigest> {
  const digest = createDigest(table)
  for (const row of rowsIn(client, table)) digest.add(row)
  return digest.result()
}

/** Opens a file for reading only. */
export function openSqliteSource(settings: SqliteSettings): MoveSource {
  const client = new SqliteClient(resolve(settings.file), { readonly: true, fileMustExist: true })
  // One state of the file until it is closed.
  client.exec('begin')
  return {
    rows: (table) => rowsIn(client, table),
    computesDigests: false,
    digest: (table) => digestOf(client, table),
    async nextNumber({ name }) {
      const last = client
        .prepare('select seq from sqlite_sequence where name = ?')
        .pluck()
        .get(name)
      return typeof last === 'number' ? last + 1 : 1
    },
    async close() {
      client.close()
    },
  }
}

async function insert(
  client: SqliteDatabase,
  table: MovedTable,
  rows: Parameters<MoveWriter['insert']>[1],
): Promise<void> {
  const places = table.columns.map(() => '?').join(', ')
  const statement = client.prepare(
    `insert into "${table.name}" (${columnList(table)}) values (${places})`,
  )
  for await (const row of rows) statement.run(row.map(toSqlite))
}

/** Opens a migrated file for writing. */
export function openSqliteTarget(settings: SqliteSettings): MoveTarget {
  const client = new SqliteClient(resolve(settings.file), { fileMustExist: true, timeout: 1_000 })
  client.pragma('journal_mode = WAL')
  client.pragma('synchronous = FULL')
  client.pragma('foreign_keys = ON')
  const write: MoveWriter = {
    insert: (table, rows) => insert(client, table, rows),
    async clear() {
      // Children first; triggers empty the index of passages.
      for (const { name } of MOVED_TABLES.toReversed()) client.exec(`delete from "${name}"`)
      for (const name of Object.keys(DERIVED_TABLES))
        if (name !== 'passages_index' && hasTable(client, name))
          client.exec(`delete from "${name}"`)
    },
    async set(key, json) {
      if (json === null) client.prepare('delete from settings where key = ?').run(key)
      else
        client
          .prepare(
            'insert into settings (key, value) values (?, ?) on conflict (key) do update set value = excluded.value',
          )
          .run(key, json)
    },
    async setNextNumber({ name }, next) {
      client.prepare('delete from sqlite_sequence where name = ?').run(name)
      client.prepare('insert into sqlite_sequence (name, seq) values (?, ?)').run(name, next - 1)
    },
  }
  return {
    digest: (table) => digestOf(client, table),
    async hasRows(table) {
      const query = `select exists (select 1 from ${rowsOf(table)})`
      return client.prepare(query).pluck().get() === 1
    },
    async setting(key) {
      const value = client.prepare('select value from settings where key = ?').pluck().get(key)
      return typeof value === 'string' ? value : null
    },
    async transaction(work) {
      client.exec('begin immediate')
      try {
        await work(write)
        client.exec('commit')
      } finally {
        if (client.inTransaction) client.exec('rollback')
      }
    },
    async close() {
      client.close()
    },
  }
}

const hasTable = (client: SqliteDatabase, name: string): boolean =>
  client.prepare("select 1 from sqlite_master where type = 'table' and name = ?").get(name) !==
  undefined
