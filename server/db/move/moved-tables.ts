// What a move copies: every table of the schema with its columns, except for those that the other database derives again.
import { getTableColumns, getTableName } from 'drizzle-orm'
import { postgresColumns } from '../columns/postgres.ts'
import { PROGRESS_KEYS } from '../search-progress.ts'
import { defineTables } from '../tables.ts'

/** How both databases store the values of a column. */
export type ColumnKind =
  | 'text'
  | 'json'
  | 'integer'
  | 'bigInteger'
  | 'real'
  | 'boolean'
  | 'time'
  | 'bytes'

/** A value on its way: JSON as its text, a time as milliseconds. */
export type MovedValue = string | number | boolean | Buffer | null
/** One row, its values in the order of the columns. */
export type MovedRow = readonly MovedValue[]
/** Rows of one table, read one after the other. */
export type Rows = Iterable<MovedRow> | AsyncIterable<MovedRow>

/** A table that a move copies. */
export interface MovedTable {
  name: string
  columns: readonly { name: string; kind: ColumnKind }[]
  /** The column that the database counts up. */
  counter: string | undefined
  /** The condition, in the SQL of both databases, of the rows that are copied; all rows without it. */
  rows?: string
}

/** The tables that stay behind, and why nothing is lost. A table that is in neither list fails a test. */
export const DERIVED_TABLES: Readonly<Record<string, string>> = {
  search_titles: 'the search index: the server indexes all texts again after the move',
  search_words: 'the search index',
  search_segments: 'the search index',
  search_pages: 'the search index',
  search_vocabulary: 'the search index',
  search_removed: 'the search index',
  passages_index: 'the index of passages: triggers write it',
  passage_embeddings: 'a copy of passage_vectors for pgvector, which the server completes',
  leases: 'rights of running instances, of which there are none',
}

/** The setting of a database into which a move began that has not ended. */
export const UNFINISHED_MOVE = 'unfinished_move'
/** Settings that stay behind: the others say how far the search index is. */
export const LEFT_SETTINGS: readonly string[] = [
  UNFINISHED_MOVE,
  PROGRESS_KEYS.missing,
  PROGRESS_KEYS.characters,
  PROGRESS_KEYS.words,
]

/** The kinds of the columns that the kit creates, by their names in drizzle. */
const KINDS: Readonly<Record<string, ColumnKind>> = {
  PgText: 'text',
  PgJson: 'json',
  PgInteger: 'integer',
  PgBigInt53: 'bigInteger',
  PgBigSerial53: 'bigInteger',
  PgDoublePrecision: 'real',
  PgBoolean: 'boolean',
  PgTimestamp: 'time',
  PgCustomColumn: 'bytes',
}

function kindOf(table: string, { name, columnType }: { name: string; columnType: string }) {
  const kind = KINDS[columnType]
  if (kind === undefined)
    throw new Error(`A move cannot copy ${table}.${name}: ${columnType} is unknown to it.`)
  return kind
}

/** Every table that is copied, each after the tables that it refers to. */
export const MOVED_TABLES: readonly MovedTable[] = Object.values(defineTables(postgresColumns))
  .filter((table) => !Object.hasOwn(DERIVED_TABLES, getTableName(table)))
  .map((table) => {
    const name = getTableName(table)
    const columns = Object.values(getTableColumns(table))
    return {
      name,
      columns: columns.map((column) => ({ name: column.name, kind: kindOf(name, column) })),
      counter: columns.find(({ columnType }) => columnType === 'PgBigSerial53')?.name,
      ...(name === 'settings'
        ? {
            rows: `key not in (${LEFT_SETTINGS.map((key) => `'${key}'`).join(', ')})`,
          }
        : {}),
    }
  })

/** The columns of a table for a statement. */
export const columnList = ({ columns }: MovedTable): string =>
  columns.map(({ name }) => `"${name}"`).join(', ')

/** The table in a `from` clause, with its condition. */
export const rowsOf = ({ name, rows }: MovedTable): string =>
  `"${name}"${rows === undefined ? '' : ` where ${rows}`}`
