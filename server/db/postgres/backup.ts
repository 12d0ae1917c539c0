// PostgreSQL's backup as lines of JSON: a header, one line per row, and an end that marks the file as complete.
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { getTableColumns, getTableName } from 'drizzle-orm'
import pg from 'pg'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { postgresColumns } from '../columns/postgres.ts'
import type { PostgresSettings } from '../database.ts'
import { MIGRATIONS_TABLE, pendingMigrations } from '../migrate.ts'
import { defineTables } from '../tables.ts'
import { clientConfig } from './connect.ts'
import { migratePostgres } from './migrate.ts'

const Header = z.object({
  nanoclaw: z.literal('backup'),
  format: z.literal(1),
  /** `created_at` of every migration that was applied to the backed-up database. */
  migrations: z.array(z.number()),
})
/** The last line. */
export const BackupEnd = z.object({ end: z.literal(true), rows: z.int() })
/** A line with a row: its table and its JSON. */
export const ROW_LINE = /^\{"table":"(\w+)","row":(\{.*\})\}$/s

const BATCH_ROWS = 500
/** Characters of rows sent to the server in one statement. */
const BATCH_CHARACTERS = 4_000_000

/** Every table with its columns, parents before the tables that refer to them; without generated columns. */
const BACKUP_TABLES = Object.values(defineTables(postgresColumns)).map((table) => ({
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
  for (const { name, columns } of BACKUP_TABLES) {
    // Read through a cursor, so that a large table is never in memory as a whole.
    await client.query(
      `declare rows no scroll cursor for
       select row_to_json(part)::text as text from (select ${columns} from "${name}") part`,
    )
    for (;;) {
      const { rows } = await client.query<{ text: string }>(`fetch ${BATCH_ROWS} from rows`)
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

/** Writes a backup that is readable by its owner only. @param target a file that does not exist yet. */
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
    throw new AppError('store_busy', 'The database is in use. Stop all servers first.')
}

/** @throws AppError when a server is connected to the database. */
export const assertUnused = (settings: PostgresSettings): Promise<void> =>
  withClient(settings, refuseWhileInUse)

function parseHeader(line: string | undefined): z.infer<typeof Header> {
  try {
    return Header.parse(JSON.parse(line ?? ''))
  } catch (cause) {
    throw new AppError('bad_request', 'This file is not a backup of a PostgreSQL database.', {
      cause,
    })
  }
}

async function insertRows(client: pg.Client, name: string, rows: readonly string[]): Promise<void> {
  const table = BACKUP_TABLES.find((table) => table.name === name)
  if (table === undefined)
    throw new AppError('bad_request', `The backup contains an unknown table: ${name}.`)
  await client.query(
    `insert into "${name}" (${table.columns})
     select ${table.columns} from json_populate_recordset(null::"${name}", $1::json)`,
    [`[${rows.join(',')}]`],
  )
}

/**
 * The lines of a backup, which end with `\n` alone. `node:readline` also ends a line at U+2028 and U+2029, depending on
 * Node's version, and JSON allows both inside a string.
 */
export async function* readLines(input: Readable): AsyncGenerator<string, void> {
  let line = ''
  const decoder = new TextDecoder()
  for await (const bytes of input) {
    const [end = '', ...more] = decoder.decode(bytes, { stream: true }).split('\n')
    line += end
    for (const next of more) {
      yield line
      line = next
    }
  }
  if (line !== '') yield line
}

const FileReferences = z.object({
  sha256: z.string(),
  thumbnail_sha256: z.string().nullish(),
})

/** The contents that the files in a backup refer to (SHA-256, hexadecimal). */
export async function blobsOfPostgresBackup(source: string): Promise<string[]> {
  const found = new Set<string>()
  for await (const line of readLines(createReadStream(source))) {
    const [, name, row] = ROW_LINE.exec(line) ?? []
    if (name !== 'files' || row === undefined) continue
    const { sha256, thumbnail_sha256: thumbnail } = FileReferences.parse(JSON.parse(row))
    found.add(sha256)
    if (thumbnail != null) found.add(thumbnail)
  }
  return [...found]
}

const SettingRow = z.object({ key: z.string(), value: z.unknown() })

/** The value under a key of the settings in a backup; undefined if there is none. */
export async function settingOfPostgresBackup(source: string, key: string): Promise<unknown> {
  for await (const line of readLines(createReadStream(source))) {
    const [, name, row] = ROW_LINE.exec(line) ?? []
    if (name !== 'settings' || row === undefined) continue
    const setting = SettingRow.parse(JSON.parse(row))
    if (setting.key === key) return setting.value
  }
  return undefined
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
    const [, name, row] = ROW_LINE.exec(line) ?? []
    if (name === undefined || row === undefined) {
      await flush()
      const end = BackupEnd.safeParse(line === '' ? null : JSON.parse(line))
      if (end.data?.rows !== count)
        throw new AppError('bad_request', 'The backup is incomplete: its last line is missing.')
      return
    }
    if (name !== table || rows.length === BATCH_ROWS || characters > BATCH_CHARACTERS) await flush()
    table = name
    rows.push(row)
    characters += row.length
    count += 1
  }
}

const OTHER_VERSION =
  'The backup was created by another version of NanoClaw. Restore it with that version, then upgrade.'

/** @throws AppError when the file is not a backup of this version. Does not read its rows. */
export async function checkPostgresBackup(source: string): Promise<void> {
  const input = createReadStream(source)
  try {
    const first = await readLines(input).next()
    const { migrations } = parseHeader(first.done ? undefined : first.value)
    const known = pendingMigrations('postgres', []).map(({ folderMillis }) => folderMillis)
    if (`${migrations}` !== `${known}`) throw new AppError('conflict', OTHER_VERSION)
  } finally {
    input.destroy()
  }
}

/**
 * Replaces all rows with those of a backup, in one transaction.
 * @throws AppError when the database is in use, or the backup is incomplete or from another version.
 */
export async function loadPostgres(settings: PostgresSettings, source: string): Promise<void> {
  await migratePostgres(clientConfig(settings))
  await withClient(settings, async (client) => {
    await refuseWhileInUse(client)
    const input = createReadStream(source)
    try {
      const lines = readLines(input)
      const first = await lines.next()
      const { migrations } = parseHeader(first.done ? undefined : first.value)
      if (`${migrations}` !== `${await appliedMigrations(client)}`)
        throw new AppError('conflict', OTHER_VERSION)
      await client.query('begin')
      await client.query(
        `truncate ${BACKUP_TABLES.map(({ name }) => `"${name}"`).join(', ')} cascade`,
      )
      await loadLines(client, lines)
      for (const { name, counter } of BACKUP_TABLES)
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
