// The two doors of the store: `read` for looking, `write` for one transaction. What they promise holds on both databases.
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'
import type { Tables } from './tables.ts'

type Query = PgDatabase<PgQueryResultHKT>

/** Queries that change nothing. They never wait for a writer and do not see a transaction that is still open. */
export type Reader = Pick<Query, 'select' | 'selectDistinct'>

/** The inside of one transaction. Valid until the `work` it was given to has settled. */
export type Writer = Reader &
  Pick<Query, 'insert' | 'update' | 'delete'> & {
    /**
     * Makes every other `write` that locks the same name wait until this transaction has ended. Take it before reading
     * what the transaction decides upon. (SQLite has one writer at a time and needs nothing.)
     */
    lock(name: string): Promise<void>
  }

export type Dialect = 'sqlite' | 'postgres'

/**
 * One connected database. Every method may throw `AppError`:
 * `store_busy` (somebody else holds the lock for longer than we wait), `store_unavailable` (no connection), `store_full`.
 * Any other failure of a statement is the driver's own error, never with the statement's values in its text.
 */
export interface Database {
  readonly dialect: Dialect
  readonly tables: Tables
  readonly read: Reader
  /**
   * The same for queries that may take longer than a moment (rankings, comparisons): on SQLite they run on a thread of
   * their own, so that nobody waits for them; it starts with the first and ends when there are none for a while.
   */
  readonly readAside: Reader
  /** How the nearest vectors are found: inside the database, or by reading all of them. */
  readonly vectors: 'sqlite' | 'pgvector' | 'scan'
  /**
   * Runs `work` in one transaction: all of it is stored durably when the promise fulfils, nothing when it rejects.
   * Await nothing inside but statements on `tx`: on SQLite all other writers wait meanwhile.
   * A `write` inside a `write` waits for itself for ever (the tests refuse it with an error); hand `tx` on instead.
   */
  write<T>(work: (tx: Writer) => Promise<T>): Promise<T>
  /** Did a statement fail because of a unique index? */
  isUniqueViolation(error: unknown): boolean
  /** Fulfils when the database answers; for readiness checks. */
  ping(): Promise<void>
  /** Lets writes that began come to their end, then closes. Safe to call twice. */
  close(): Promise<void>
}

/** Where the room tells what an operator should know; a pino logger fits. */
export interface StoreLog {
  info(details: object, message: string): void
  warn(details: object, message: string): void
}

/** For tests and measurements: sees every statement with its values before it runs. */
export type StatementListener = (sql: string, values: unknown[]) => void

export type SqliteSettings = {
  dialect: 'sqlite'
  file: string
  /** Milliseconds that a write waits for a lock of another process. */
  busyTimeout?: number
}
export type PostgresSettings = {
  dialect: 'postgres'
  connection:
    | { url: string }
    | { host: string; port: number; user: string; password: string; database: string }
  /** Connections at most. */
  poolSize?: number
  /** Whether passages are found by meaning: then pgvector is made use of where it can be. */
  embeddings?: boolean
}
export type DatabaseSettings = SqliteSettings | PostgresSettings

export type ConnectOptions = {
  log: StoreLog
  onStatement?: StatementListener
  /** Notice a write inside a write at once; for tests, because following every promise costs all of the process. */
  refuseNestedWrites?: boolean
}
