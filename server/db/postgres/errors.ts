// Translates PostgreSQL's errors into `AppError`.
import { DrizzleQueryError } from 'drizzle-orm'
import { AppError, appError, errorText } from '../../errors.ts'

/** The driver's error without drizzle's wrapper, whose message contains the statement's values and must not be logged. */
const unwrap = (error: unknown): unknown =>
  error instanceof DrizzleQueryError ? (error.cause ?? new Error('A statement failed.')) : error

/** SQLSTATE or the system's error code (`ECONNREFUSED`); '' for any other error. */
export function postgresCode(error: unknown): string {
  const driverError = unwrap(error)
  return driverError instanceof Error &&
    'code' in driverError &&
    typeof driverError.code === 'string'
    ? driverError.code
    : ''
}

/** What to do about refusals that a configuration causes, by SQLSTATE. */
const HINTS: Record<string, string> = {
  '3D000':
    ' Create it, for example with `createdb`, or correct db_name or database_url; the tables are created at the start.',
  '28P01': ' Check db_user and db_password, or database_url.',
  '28000': ' Check db_user, and whether pg_hba.conf of the server lets it in from here.',
}

/** An error for the operator: why the server cannot be used, and what to do. */
export const postgresUnusable = (error: unknown): AppError => {
  const code = postgresCode(error)
  const reason = errorText(unwrap(error)) || code
  const hint = HINTS[code]
  return new AppError(
    'store_unavailable',
    `PostgreSQL cannot be used: ${reason}${hint === undefined ? '' : `.${hint}`}`,
    { cause: error },
  )
}

const LOST_CONNECTION_CODES =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|57P0[123]|08...|53300)$/
const LOST_CONNECTION_TEXTS = /^Connection terminated( unexpectedly)?$|not queryable$/
const UNRESPONSIVE_TEXTS =
  /timeout exceeded when trying to connect|connection timeout|^Query read timeout|^The server is silent/

const textOf = (error: unknown): string => {
  const driverError = unwrap(error)
  return driverError instanceof Error ? driverError.message : ''
}

/** The connection was lost or refused; a retry may succeed at once. */
export const isConnectionLost = (error: unknown): boolean =>
  LOST_CONNECTION_CODES.test(postgresCode(error)) || LOST_CONNECTION_TEXTS.test(textOf(error))

/** The server is unreachable or silent: other statements will fail in the same way. */
export const isUnresponsive = (error: unknown): boolean =>
  isConnectionLost(error) || UNRESPONSIVE_TEXTS.test(textOf(error))

/** Turns known driver errors into `AppError`; returns anything else without drizzle's wrapper. */
export function translatePostgresError(error: unknown): unknown {
  const driverError = unwrap(error)
  const code = postgresCode(driverError)
  if (isUnresponsive(driverError))
    return appError('store_unanswered', {}, { retryable: true, retryAfter: 5, cause: driverError })
  if (code === '53100') return appError('store_full', {}, { cause: driverError })
  // A lock timeout, a deadlock, a serialization failure, a statement timeout.
  if (['55P03', '40P01', '40001', '57014'].includes(code))
    return appError('store_busy', {}, { retryable: true, retryAfter: 2, cause: driverError })
  return driverError
}
