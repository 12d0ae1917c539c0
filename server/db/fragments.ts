// Fragments of queries that both databases understand, and how prepared and independent statements are sent.
import { createHash } from 'node:crypto'
import {
  type Column,
  getTableColumns,
  is,
  type Placeholder,
  type SQL,
  sql,
  type Table,
} from 'drizzle-orm'
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

/** The condition that a text folded by `foldCase` contains what a person typed. @param pattern from `foldedPattern`. */
export const containsFolded = (folded: Column, pattern: string | Placeholder): SQL =>
  sql`${folded} like ${pattern} escape '\\'`

/** A `like` pattern that matches what a person typed anywhere in a text; typed wildcards are escaped. */
export const foldedPattern = (typed: string): string =>
  `%${foldCase(typed).replaceAll(/[\\%_]/g, '\\$&')}%`

/**
 * The condition that a text contains `part` as it is written. `like` would ignore case on SQLite, and takes far longer there
 * to pass over long texts.
 */
export const contains = (text: Column, part: string): SQL =>
  is(text.table, SQLiteTable) ? sql`instr(${text}, ${part}) > 0` : sql`strpos(${text}, ${part}) > 0`

/** The condition that a text begins with `part` as it is written. */
export const beginsWith = (text: Column, part: string): SQL =>
  sql`substr(${text}, 1, ${sql.raw(String(Array.from(part).length))}) = ${part}`

/** Folds text for case-insensitive comparison. The databases fold differently (SQLite: ASCII only). */
export const foldCase = (text: string): string => text.normalize('NFKC').toLowerCase()

/** Length of a text in bytes. Both databases know it without reading the text. */
export const byteLength = (text: Column | SQL) => sql`octet_length(${text})`.mapWith(Number)

/** Bytes of a long text that one query reads. */
const SLICE_BYTES = 256_000

/** The text of one row, read in slices on demand; it ends early when the row is deleted. */
export const readLongText = (
  read: Reader,
  table: LongTextTable,
  column: Column | SQL,
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

type LongTextTable = Database['tables'][
  | 'steps'
  | 'messages'
  | 'attachments'
  | 'files'
  | 'shareFiles']

/** `count(*)` as a number on both databases. */
export const countAll = sql`count(*)`.mapWith(Number)

/**
 * Statements that are prepared once per shape, for queries that every request runs.
 * @param prepare receives the shape, and a name that is unique to it.
 */
export function prepareOnce<Shape extends object, Statement>(
  name: string,
  prepare: (shape: Shape, name: string) => Statement,
): (shape: Shape) => Statement {
  const statements = new Map<string, Statement>()
  return (shape) => {
    const key = Object.values(shape).join()
    const found = statements.get(key)
    if (found !== undefined) return found
    const statement = prepare(shape, `${name} ${key}`)
    statements.set(key, statement)
    return statement
  }
}

/** A statement for transactions and for `readInOrder`, prepared once per connection. */
export function prepareOnEach<Statement, Connection extends Reader = Writer>(
  prepare: (tx: Connection) => Statement,
): (tx: Connection) => Statement {
  const statements = new WeakMap<Connection, Statement>()
  return (tx) => {
    const found = statements.get(tx)
    if (found !== undefined) return found
    const statement = prepare(tx)
    statements.set(tx, statement)
    return statement
  }
}

/** A placeholder for the value of a column, which may be null, named like the column in the table. */
const placeholderFor = (column: Column, name: string): SQL => {
  const mapToDriverValue = (value: unknown): unknown =>
    value === null ? null : column.mapToDriverValue(value)
  return sql`${sql.param(sql.placeholder(name), { mapToDriverValue })}`
}

/**
 * Placeholders for all columns of a table, in their order, as `insert … select` requires.
 * @param suffix of their names, for statements with several rows.
 * @param change what takes the place of a column's placeholder.
 */
export const valuesOf = (
  table: Table,
  suffix = '',
  change: Readonly<Record<string, (placeholder: SQL) => SQL>> = {},
): SQL =>
  sql.join(
    Object.entries(getTableColumns(table)).map(([name, column]) => {
      const placeholder = placeholderFor(column, name + suffix)
      return change[name]?.(placeholder) ?? placeholder
    }),
    sql`, `,
  )

/** The values of all columns of a table, in their order, as `insert … select` requires; null where a value is absent. */
export const parametersOf = <Row extends Table>(
  table: Row,
  values: Partial<Row['$inferInsert']>,
): SQL => {
  const given = new Map<string, unknown>(Object.entries(values))
  return sql.join(
    Object.entries(getTableColumns(table)).map(([name, column]) => {
      const value = given.get(name) ?? null
      return value === null ? sql`null` : sql`${sql.param(value, column)}`
    }),
    sql`, `,
  )
}

/**
 * Updates of a table inside transactions, prepared once per connection and set of changed columns.
 * @param prepare receives the new values as placeholders, and a name that is unique to these columns. Its statement is
 * executed with the patch, plus the values of its own placeholders.
 */
export function prepareUpdates<Statement>(
  name: string,
  table: Table,
  prepare: (tx: Writer, set: Record<string, SQL>, name: string) => Statement,
): (tx: Writer, patch: object) => Statement {
  const columns = getTableColumns(table)
  const statements = new WeakMap<Writer, Map<string, Statement>>()
  return (tx, patch) => {
    const shapes = statements.get(tx) ?? new Map<string, Statement>()
    statements.set(tx, shapes)
    const changed = Object.entries(patch).flatMap(([key, value]) =>
      value === undefined ? [] : [key],
    )
    const shape = changed.join()
    const found = shapes.get(shape)
    if (found !== undefined) return found
    const set = Object.fromEntries(
      changed.flatMap((key) => {
        const column = columns[key]
        return column === undefined ? [] : [[key, placeholderFor(column, key)]]
      }),
    )
    // PostgreSQL allows 63 characters.
    const suffix = createHash('sha256').update(shape).digest('hex').slice(0, 12)
    const statement = prepare(tx, set, `${name} ${suffix}`)
    shapes.set(shape, statement)
    return statement
  }
}

/**
 * Joins each row on the left with the matching rows of `table`, with one index lookup each. On PostgreSQL this is a lateral
 * join, which the planner cannot reorder: it misestimates the length of a recursion and would read a whole table for each
 * step. (SQLite keeps the order of a cross join.)
 * @param condition refers to the row of `table` as `name`.
 */
export const joinEach = (table: Table, name: SQL, condition: SQL): SQL =>
  is(table, SQLiteTable)
    ? sql`cross join ${table} as ${name} on ${condition}`
    : sql`cross join lateral (select * from ${table} as ${name} where ${condition} offset 0) as ${name}`

/**
 * Starts all parts at once, in this order: PostgreSQL receives their statements without waiting for each answer. Waits for
 * all of them even if one fails, because a statement that is sent later would no longer be part of the transaction.
 * @param parts functions, because a query begins only when it is awaited, and again each time.
 * @throws the error of the first part that failed.
 */
export async function inParallel(...parts: (() => PromiseLike<unknown>)[]): Promise<void> {
  const settled = await Promise.allSettled(parts.map(async (part) => await part()))
  for (const one of settled) if (one.status === 'rejected') throw one.reason
}
