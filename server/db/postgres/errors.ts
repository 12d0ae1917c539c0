// Translates PostgreSQL's errors into `AppError`.
import { DrizzleQueryError } from 'drizzle-orm'
import { appError } from '../../errors.ts'

/** The driver's error without drizzle's wrapper, whose text would put the statement's values into logs. */
const unwrapped = (error: unknown): unknown =>
  error instanceof DrizzleQueryError ? (error.cause ?? new Error('A statement failed.')) : error

/** SQLSTATE or the system's error code; '' where there is none. */
export function postgresCode(error: unknown): string {
  const bare = unwrapped(error)
  return bare instanceof Error && 'code' in bare && typeof bare.code === 'string' ? bare.code : ''
}

const lostCodes =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|57P0[123]|08...|53300)$/
const lostTexts = /^Connection terminated( unexpectedly)?$|not queryable$/
const unansweredTexts =
  /timeout exceeded when trying to connect|connection timeout|^Query read timeout|^The server is silent/

const textOf = (error: unknown): string => {
  const bare = unwrapped(error)
  return bare instanceof Error ? bare.message : ''
}

/** The connection was lost or refused; a retry may succeed at once. */
export const isConnectionLost = (error: unknown): boolean =>
  lostCodes.test(postgresCode(error)) || lostTexts.test(textOf(error))

/** There is no server, or it is silent: other statements will fail the same way. */
export const isUnanswered = (error: unknown): boolean =>
  isConnectionLost(error) || unansweredTexts.test(textOf(error))

/** A driver error as `AppError` where it is known; anything else without drizzle's wrapper. */
export function translatePostgresError(error: unknown): unknown {
  const bare = unwrapped(error)
  const code = postgresCode(bare)
  if (isUnanswered(bare))
    return appError(
      'store_unanswered',
      {},
      {
        retryable: true,
        retryAfter: 5,
        cause: bare,
      },
    )
  if (code === '53100') return appError('store_full', {}, { cause: bare })
  // A lock timeout, a deadlock, a serialization failure, a statement timeout.
  if (['55P03', '40P01', '40001', '57014'].includes(code))
    return appError(
      'store_busy',
      {},
      {
        retryable: true,
        retryAfter: 2,
        cause: bare,
      },
    )
  return bare
}
