// A SQLite connection for drizzle: compiles statements once, converts values for the driver, translates errors.

// Not from drizzle's own entry, which loads better-sqlite3 by that name: Node 20 has it by another.
import { BetterSQLiteSession } from 'drizzle-orm/better-sqlite3/session'
import { BaseSQLiteDatabase, SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { appError } from '../../errors.ts'
import {
  type RunResult,
  SqliteClient,
  type SqliteDatabase,
  type SqliteStatement,
} from '../../lib/sqlite-driver.ts'
import type { StatementListener } from '../database.ts'
import { bindableText, toDrizzleLogger } from '../drivers.ts'

const CACHED_STATEMENTS = 500

/** The driver's error code (`SQLITE_…`); '' for any other error. */
export const sqliteCode = (error: unknown): string =>
  error instanceof SqliteClient.SqliteError ? error.code : ''

/** Whether another connection holds the lock, so that a retry can succeed. */
export const isSqliteBusy = (error: unknown): boolean =>
  /^SQLITE_(BUSY|LOCKED)/.test(sqliteCode(error))

/** Turns known driver errors into `AppError`; returns anything else unchanged. */
export function translateSqliteError(error: unknown): unknown {
  const code = sqliteCode(error)
  if (isSqliteBusy(error))
    return appError('store_locked', {}, { retryable: true, retryAfter: 5, cause: error })
  if (code === 'SQLITE_FULL') return appError('store_full', {}, { cause: error })
  if (/^SQLITE_(IOERR|CANTOPEN|READONLY|CORRUPT|NOTADB)/.test(code))
    return appError('store_file_unusable', {}, { retryAfter: 5, cause: error })
  return error
}

/** A value that better-sqlite3 can bind. Values in raw fragments arrive here unconverted by a column. */
export function bindable(value: unknown): unknown {
  if (typeof value === 'string') return bindableText(value)
  if (typeof value === 'boolean') return value ? 1 : 0
  return value instanceof Date ? value.getTime() : value
}

/** A connection to a SQLite file. */
export type SqliteConnection = {
  drizzle: BaseSQLiteDatabase<'sync', RunResult, Record<string, unknown>>
  /** The first failure of a statement since the last call, if any. */
  clearFailure(): unknown
}

/** @param client stays open; the caller closes it. */
export function createConnection(
  client: SqliteDatabase,
  onStatement: StatementListener | undefined,
): SqliteConnection {
  let failure: unknown
  const translated = <T>(action: () => T): T => {
    try {
      return action()
    } catch (error) {
      failure ??= error
      throw translateSqliteError(error)
    }
  }

  const wrap = (statement: SqliteStatement) => {
    // Raw mode (rows as arrays) is a property of the statement, and drizzle runs the same text in both modes.
    let isRaw = false
    const as = (raw: boolean) => {
      if (statement.reader && raw !== isRaw) statement.raw(raw)
      isRaw = raw
      return statement
    }
    const rows = (raw: boolean) => ({
      all: (...values: unknown[]) => translated(() => as(raw).all(...values.map(bindable))),
      get: (...values: unknown[]) => translated(() => as(raw).get(...values.map(bindable))),
    })
    const raw = rows(true)
    return {
      ...rows(false),
      run: (...values: unknown[]) => translated(() => statement.run(...values.map(bindable))),
      raw: () => raw,
    }
  }

  // Each text is compiled once: compiling costs more than running most statements.
  const compiled = new Map<string, ReturnType<typeof wrap>>()
  const prepare = (sql: string) => {
    const found = compiled.get(sql)
    if (found !== undefined) return found
    const statement = wrap(translated(() => client.prepare(sql)))
    const oldest = compiled.keys().next()
    if (compiled.size >= CACHED_STATEMENTS && !oldest.done) compiled.delete(oldest.value)
    compiled.set(sql, statement)
    return statement
  }

  const dialect = new SQLiteSyncDialect()
  const session = new BetterSQLiteSession(
    // drizzle only calls `prepare`, and on its result what `wrap` provides.
    { prepare } as unknown as SqliteDatabase,
    dialect,
    undefined,
    toDrizzleLogger(onStatement),
  )
  return {
    drizzle: new BaseSQLiteDatabase<'sync', RunResult, Record<string, unknown>>(
      'sync',
      dialect,
      session,
      undefined,
    ),
    clearFailure() {
      const taken = failure
      failure = undefined
      return taken
    },
  }
}
