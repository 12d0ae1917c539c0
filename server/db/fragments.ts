// Query fragments that both databases understand.
import { type Column, is, type Placeholder, type SQL, sql, type Table } from 'drizzle-orm'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { LongText } from '../lib/json-pieces.ts'
import type { Database, Reader, Writer } from './database.ts'

/** Rows that come after a position in a list ordered newest first, by time and then by id. */
export const afterMoment = (
  moment: Column,
  id: Column,
  lastMoment: Date | Placeholder,
  lastId: string | Placeholder,
): SQL => sql`(${moment}, ${id}) < (${sql.param(lastMoment, moment)}, ${sql.param(lastId, id)})`

/** Text folded by `foldCase` contains what a person typed. @param pattern from `foldedPattern`. */
export const containsFolded = (folded: Column, pattern: string | Placeholder): SQL =>
  sql`${folded} like ${pattern} escape '\\'`

/** What a person typed as a `like` pattern without wildcards. */
export const foldedPattern = (typed: string): string =>
  `%${foldCase(typed).replaceAll(/[\\%_]/g, '\\$&')}%`

/** The databases fold differently (SQLite ASCII only), so folding happens here. */
export const foldCase = (text: string): string => text.normalize('NFKC').toLowerCase()

/** Bytes of a text. Both databases know it without reading the text itself. */
export const byteLength = (text: Column | SQL) => sql`octet_length(${text})`.mapWith(Number)

/** Bytes of a long text that are read at once. */
const SLICE_BYTES = 256_000

/** The text of one row, read in slices on demand; it ends early when the row is deleted. */
export const readLongText = (
  read: Reader,
  table: LongTextTable,
  column: Column,
  condition: SQL | undefined,
): LongText => ({
  async *readPieces() {
    const bytes = is(table, SQLiteTable)
      ? sql`cast(${column} as blob)`
      : sql`convert_to(${column}, 'UTF8')`
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
    for (let from = 1; ; from += SLICE_BYTES) {
      const range = sql.raw(`${from}, ${SLICE_BYTES}`)
      const [row] = await read
        .select({ slice: sql<Buffer>`substr(${bytes}, ${range})` })
        .from(table)
        .where(condition)
      const slice = row?.slice ?? Buffer.alloc(0)
      const isLast = slice.length < SLICE_BYTES
      const text = decoder.decode(slice, { stream: !isLast })
      if (text !== '') yield text
      if (isLast) return
    }
  },
})

type LongTextTable = Database['tables']['steps' | 'messages' | 'attachments' | 'shareFiles']

/** `count(*)` as a number on both. */
export const countAll = sql`count(*)`.mapWith(Number)

/**
 * Statements that are prepared once per shape, for queries that every request runs.
 * @param make gets the shape and a name for the statement that is unique to it.
 */
export function prepareOnce<Shape extends object, Statement>(
  name: string,
  make: (shape: Shape, name: string) => Statement,
): (shape: Shape) => Statement {
  const made = new Map<string, Statement>()
  return (shape) => {
    const key = Object.values(shape).join()
    const found = made.get(key)
    if (found !== undefined) return found
    const statement = make(shape, `${name} ${key}`)
    made.set(key, statement)
    return statement
  }
}

/** A statement of transactions, prepared once per connection. */
export function prepareOnEach<Statement>(
  make: (tx: Writer) => Statement,
): (tx: Writer) => Statement {
  const made = new WeakMap<Writer, Statement>()
  return (tx) => {
    const found = made.get(tx)
    if (found !== undefined) return found
    const statement = make(tx)
    made.set(tx, statement)
    return statement
  }
}

/**
 * Joins each row on the left with the matching rows of `table`, by one index lookup each. For PostgreSQL this is a
 * lateral join that it cannot reorder: it misestimates the length of a recursion, and would read a whole table for each
 * step. (SQLite keeps the order of a cross join.)
 * @param condition names the row of `table` as `name`.
 */
export const joinEach = (table: Table, name: SQL, condition: SQL): SQL =>
  is(table, SQLiteTable)
    ? sql`cross join ${table} as ${name} on ${condition}`
    : sql`cross join lateral (select * from ${table} as ${name} where ${condition} offset 0) as ${name}`
