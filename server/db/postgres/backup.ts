// PostgreSQL's backup as lines of JSON: a header, one line per row, and an end that marks the file as complete.
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { getTableColumns, getTableName } from 'drizzle-orm'
import pg from 'pg'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { postgresColumns } from '../columns/postgres.ts'
import type { PostgresSettings } from '../database.ts'
import { MIGRATIONS_TABLE } from '../migrate.ts'
import { defineTables } from '../tables.ts'
import { clientConfig } from './connect.ts'
import { migratePostgres } from './migrate.ts'

const Header = z.object({
  nanoclaw: z.literal('backup'),
  format: z.literal(1),
  /** `created_at` of every migration that the rows have been through. */
  migrations: z.array(z.number()),
})
const End = z.object({ end: z.literal(true), rows: z.int() })
const rowLine = /^\{"table":"(\w+)","row":(\{.*\})\}$/s

const ROWS_AT_ONCE = 500
/** Characters of rows sent to the server in one statement. */
const BATCH_CHARACTERS = 4_000_000

/** Every table with its columns, parents before the tables that refer to them; without generated columns. */
const layout = Object.values(defineTables(postgresColumns)).map((table) => ({
  name: getTableName(table),
  columns: Object.values(getTableColumns(table))
    .map((column) => `"${column.name}"`)
    .join(', '),
  counter: Object.values(getTableColumns(table)).find(
    (column) => column.columnType === 'PgBigSerial53',
  )?.name,
}))

async function withClient<T>(
  settings: PostgresSettings,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ ...clientConfig(settings), connectionTimeoutMillis: 5_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    // Rolls back a transaction that is still open.
    await client.end().catch(() => {})
  }
}

async function appliedMigrations(client: pg.Client): Promise<number[]> {
  const { rows } = await client.query<{ created_at: string }>(
    `select created_at from ${MIGRATIONS_TABLE} order by created_at`,
  )
  return rows.map((row) => Number(row.created_at))
}

async function* linesOf(client: pg.Client): AsyncGenerator<string> {
  // One snapshot for all tables; writers continue meanwhile.
  await client.query('begin isolation level repeatable read read only')
  const header: z.infer<typeof Header> = {
    nanoclaw: 'backup',
    format: 1,
    migrations: await appliedMigrations(client),
  }
  yield `${JSON.stringify(header)}\n`
  let count = 0
  for (const { name, columns } of layout) {
    await client.query(
      `declare rows no scroll cursor for
       select row_to_json(part)::text as text from (select ${columns} from "${name}") part`,
    )
    for (;;) {
      const { rows } = await client.query<{ text: string }>(`fetch ${ROWS_AT_ONCE} from rows`)
      if (rows.length === 0) break
      count += rows.length
      // A plain line break can only be white space between the values of a JSON column.
      for (const { text } of rows)
        yield `{"table":"${name}","row":${text.replaceAll(/[\r\n]+/g, ' ')}}\n`
    }
    await client.query('close rows')
  }
  yield `${JSON.stringify({ end: true, rows: count })}\n`
}

/** @param target a file that does not exist yet. */
export const dumpPostgres = (settings: PostgresSettings, target: string): Promise<void> =>
  withClient(settings, async (client) => {
    const handle = await open(target, 'wx', 0o600)
    await pipeline(Readable.from(linesOf(client)), handle.createWriteStream({ flush: true }))
  })

async function refuseWhileInUse(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `select 1 from pg_stat_activity
     where datname = current_database() and application_name = 'nanoclaw' limit 1`,
  )
  if (rows.length > 0)
    throw new AppError('store_busy', 'The database is in use: stop every server first.')
}

function parseHeader(line: string | undefined): z.infer<typeof Header> {
  try {
    return Header.parse(JSON.parse(line ?? ''))
  } catch (cause) {
    throw new AppError('bad_request', 'This file is no backup of a PostgreSQL database.', { cause })
  }
}

async function insertRows(client: pg.Client, name: string, rows: readonly string[]): Promise<void> {
  const table = layout.find((table) => table.name === name)
  if (table === undefined)
    throw new AppError('bad_request', `The backup has a table ${name}, which is unknown here.`)
  await client.query(
    `insert into "${name}" (${table.columns})
     select ${table.columns} from json_populate_recordset(null::"${name}", $1::json)`,
    [`[${rows.join(',')}]`],
  )
}

async function loadLines(client: pg.Client, lines: AsyncIterator<string>): Promise<void> {
  let table = ''
  let rows: string[] = []
  let characters = 0
  let count = 0
  const flush = async () => {
    if (rows.length > 0) await insertRows(client, table, rows)
    rows = []
    characters = 0
  }
  for (;;) {
    const next = await lines.next()
    const line = next.done ? '' : next.value
    const [, name, row] = rowLine.exec(line) ?? []
    if (name === undefined || row === undefined) {
      await flush()
      const end = End.safeParse(line === '' ? null : JSON.parse(line))
      if (end.data?.rows !== count)
        throw new AppError('bad_request', 'The backup is broken off: it has no proper end.')
      return
    }
    if (name !== table || rows.length === ROWS_AT_ONCE || characters > BATCH_CHARACTERS)
      await flush()
    table = name
    rows.push(row)
    characters += row.length
    count += 1
  }
}

/** Empties the database and fills it from a backup, in one transaction. */
export async function loadPostgres(settings: PostgresSettings, source: string): Promise<void> {
  await migratePostgres(clientConfig(settings))
  await withClient(settings, async (client) => {
    await refuseWhileInUse(client)
    const input = createReadStream(source)
    try {
      const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })[
        Symbol.asyncIterator
      ]()
      const first = await lines.next()
      const { migrations } = parseHeader(first.done ? undefined : first.value)
      if (`${migrations}` !== `${await appliedMigrations(client)}`)
        throw new AppError(
          'conflict',
          'The backup was made by another version of NanoClaw: restore it with that one, then upgrade.',
        )
      await client.query('begin')
      await client.query(`truncate ${layout.map(({ name }) => `"${name}"`).join(', ')} cascade`)
      await loadLines(client, lines)
      for (const { name, counter } of layout)
        if (counter !== undefined)
          await client.query(
            `select setval(pg_get_serial_sequence('${name}', '${counter}'),
                           coalesce((select max("${counter}") from "${name}"), 0) + 1, false)`,
          )
      await client.query('commit')
    } finally {
      input.destroy()
    }
  })
}
