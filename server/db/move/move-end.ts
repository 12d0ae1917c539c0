// One of the two databases of a move: reads and writes whole tables, in one form for both kinds of database.
import type { TableDigest } from './digest.ts'
import type { MovedTable, Rows } from './moved-tables.ts'

/** An open database that rows are read from; one state of it, whatever is written meanwhile. */
export interface MoveSource {
  rows(table: MovedTable): Rows
  /** Whether the database computes checksums itself, so that they also verify how its rows are read. */
  computesDigests: boolean
  digest(table: MovedTable): Promise<TableDigest>
  /** The number that the counter of a table gives next. */
  nextNumber(table: MovedTable): Promise<number>
  close(): Promise<void>
}

/** An open database that rows are written into. Nobody else uses it. */
export interface MoveTarget {
  digest(table: MovedTable): Promise<TableDigest>
  /** Whether a table has any row that a move copies. */
  hasRows(table: MovedTable): Promise<boolean>
  /** The JSON under a key of the settings; null if none is set. */
  setting(key: string): Promise<string | null>
  /** Runs `work` in one transaction. */
  transaction(work: (write: MoveWriter) => Promise<void>): Promise<void>
  close(): Promise<void>
}

/** What happens in a transaction. */
export interface MoveWriter {
  insert(table: MovedTable, rows: Rows): Promise<void>
  /** Removes every row of all tables, also of derived ones. */
  clear(): Promise<void>
  /** @param json null removes the setting. */
  set(key: string, json: string | null): Promise<void>
  setNextNumber(table: MovedTable, next: number): Promise<void>
}
