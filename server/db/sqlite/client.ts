// One SQLite connection as drizzle uses it: statements compiled once, values it can bind, errors as `AppError`.
import SqliteClient from 'better-sqlite3'
import { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { BetterSQLiteSession } from 'drizzle-orm/better-sqlite3/session'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { appError } from '../../errors.ts'
import type { StatementListener } from '../database.ts'
import { bindableText, toDrizzleLogger } from '../statements.ts'

const CACHED_STATEMENTS = 500

/** The driver's code of an error (`SQLITE_…`), '' for anything else. */
export const sqliteCode = (error: unknown): string =>
  error instanceof SqliteClient.SqliteError ? error.code : ''

export const isSqliteBusy = (error: unknown): boolean =>
  /^SQLITE_(BUSY|LOCKED)/.test(sqliteCode(error))

/** A driver error as `AppError` where it is known; anything else unchanged. */
export function translateSqliteError(error: unknown): unknown {
  const code = sqliteCode(error)
  if (isSqliteBusy(error))
    return appError(
      'store_locked',
      {},
      {
        retryable: true,
        retryAfter: 5,
        cause: error,
      },
    )
  if (code === 'SQLITE_FULL')
    return appError(
      'store_full',
      {},
      {
        cause: error,
      },
    )
  if (/^SQLITE_(IOERR|CANTOPEN|READONLY|CORRUPT|NOTADB)/.test(code))
    return appError(
      'store_file_unusable',
      {},
      {
        retryAfter: 5,
        cause: error,
      },
    )
  return error
}

/** What better-sqlite3 can bind; a raw fragment may contain values that a column would have converted. */
export function bindable(value: unknown): unknown {
  if (typeof value === 'string') return bindableText(value)
  if (typeof value === 'boolean') return value ? 1 : 0
  return value instanceof Date ? value.getTime() : value
}

export type SqliteDoor = {
  drizzle: BetterSQLite3Database<Record<string, unknown>>
  /** The first failure of a statement since the last call, if any. */
  takeFailure(): unknown
}

/** @param client is closed by the caller. */
export function openDoor(
  client: SqliteClient.Database,
  onStatement: StatementListener | undefined,
): SqliteDoor {
  let failure: unknown
  const guarded = <T>(action: () => T): T => {
    try {
      return action()
    } catch (error) {
      failure ??= error
      throw translateSqliteError(error)
    }
  }

  const wrap = (statement: SqliteClient.Statement) => {
    // The mode belongs to the statement, and drizzle uses the same text in both modes.
    const as = (raw: boolean) => (statement.reader ? statement.raw(raw) : statement)
    const rows = (raw: boolean) => ({
      all: (...values: unknown[]) => guarded(() => as(raw).all(...values.map(bindable))),
      get: (...values: unknown[]) => guarded(() => as(raw).get(...values.map(bindable))),
    })
    const raw = rows(true)
    return {
      ...rows(false),
      run: (...values: unknown[]) => guarded(() => statement.run(...values.map(bindable))),
      raw: () => raw,
    }
  }

  // Each text is compiled once: compiling costs more than running most statements.
  const kept = new Map<string, ReturnType<typeof wrap>>()
  const prepare = (sql: string) => {
    const found = kept.get(sql)
    if (found !== undefined) return found
    const statement = wrap(guarded(() => client.prepare(sql)))
    const oldest = kept.keys().next()
    if (kept.size >= CACHED_STATEMENTS && !oldest.done) kept.delete(oldest.value)
    kept.set(sql, statement)
    return statement
  }

  const dialect = new SQLiteSyncDialect()
  const session = new BetterSQLiteSession(
    // drizzle only calls `prepare`, and on its result what `wrap` provides.
    { prepare } as unknown as SqliteClient.Database,
    dialect,
    undefined,
    toDrizzleLogger(onStatement),
  )
  return {
    drizzle: new BetterSQLite3Database('sync', dialect, session, undefined),
    takeFailure() {
      const taken = failure
      failure = undefined
      return taken
    },
  }
}
