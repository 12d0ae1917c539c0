// The two ways to the database: `read` for queries, `write` for one transaction. Their guarantees hold on both
// databases.
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'
import type { Tables } from './tables.ts'

type Query = PgDatabase<PgQueryResultHKT>

/** Queries that change nothing. They never wait for a writer and do not see an open transaction. */
export type Reader = Pick<Query, 'select' | 'selectDistinct'>

/** A transaction. Valid until the `work` that received it has settled. */
export type Writer = Reader &
  Pick<Query, 'insert' | 'update' | 'delete'> & {
    /**
     * Makes every other `write` that locks the same name wait until this transaction has ended. Call it before reading
     * what the transaction depends on. (SQLite has one writer at a time and needs no lock.)
     */
    lock(name: string): Promise<void>
  }

/** The database in use. */
export type Dialect = 'sqlite' | 'postgres'

/**
 * One connected database. Every method may throw `AppError`: `store_busy` (a lock was held for too long),
 * `store_unavailable` (no connection), `store_full`. Any other failure of a statement is the driver's error, whose text
 * never contains the statement's values.
 */
export interface Database {
  readonly dialect: Dialect
  readonly tables: Tables
  readonly read: Reader
  /**
   * Runs the queries that `work` starts, in order: each sees at least what the ones before it saw. On PostgreSQL they share
   * one connection and are sent without waiting for each result.
   */
  readInOrder<T>(work: (read: Reader) => Promise<T>): Promise<T>
  /**
   * Like `read`, for long queries (rankings, comparisons): on SQLite a worker thread runs them, so that they do not block
   * the event loop. The thread starts with the first such query and ends when idle.
   */
  readonly readOffThread: Reader
  /** How the nearest vectors are found: inside the database, or by reading all of them. */
  readonly vectors: 'sqlite' | 'pgvector' | 'scan'
  /**
   * Runs `work` in one transaction: all of it is stored durably when the promise resolves, nothing when it rejects. If the
   * connection is lost before the first statement takes effect, `work` runs again. Inside it, await only statements on
   * `tx`, because on SQLite all other writers wait meanwhile. A `write` inside a `write` waits for itself forever (the
   * tests refuse it with an error); pass `tx` instead.
   */
  write<T>(work: (tx: Writer) => Promise<T>): Promise<T>
  /** Whether a statement failed because of a unique index. */
  isUniqueViolation(error: unknown): boolean
  /** Resolves when the database responds; for readiness checks. */
  ping(): Promise<void>
  /** Lets started writes finish, then closes. Safe to call twice. */
  close(): Promise<void>
}

/** Receives warnings for the operator; compatible with pino. */
export interface StoreLog {
  info(details: object, message: string): void
  warn(details: object, message: string): void
}

/** For tests and benchmarks: sees every statement with its values before it runs. */
export type StatementListener = (sql: string, values: unknown[]) => void

/** How the SQLite file is opened. */
export type SqliteSettings = {
  dialect: 'sqlite'
  file: string
  /** Milliseconds that a write waits for a lock of another process. */
  busyTimeout?: number
}
/** How PostgreSQL is reached. */
export type PostgresSettings = {
  dialect: 'postgres'
  connection:
    | { url: string }
    | { host: string; port: number; user: string; password: string; database: string }
  /** Maximum number of connections in the pool. */
  poolSize?: number
  /** Milliseconds after which the server ends an idle transaction, because it holds locks. */
  idleInTransactionMs?: number
  /** Whether passages are searched by meaning: then pgvector is used where available. */
  embeddings?: boolean
}

/** The settings of either database, distinguished by `dialect`. */
export type DatabaseSettings = SqliteSettings | PostgresSettings

/** Options of both drivers besides their settings. */
export type ConnectOptions = {
  log: StoreLog
  onStatement?: StatementListener
  /** Detects a write inside a write at once. For tests, because tracking every promise slows the whole process. */
  refuseNestedWrites?: boolean
}
