// The worker thread that runs long queries on a SQLite file, over its own read-only connection.
import { workerData } from 'node:worker_threads'
import { errorText } from '../../errors.ts'
import { SqliteClient, type SqliteStatement } from '../../lib/sqlite-driver.ts'
import { serveRequests } from '../../lib/worker-server.ts'
import { addVectorFunctions } from '../vectors/sqlite.ts'

/** A query for the off-thread reader. */
export interface ReaderQuery {
  sql: string
  values: readonly unknown[]
}
/** The rows of a query as arrays, or why there are none. */
export type ReaderReply =
  | { rows: unknown[][] }
  /** `code` is the driver's error code; '' for any other error. */
  | { message: string; code: string }

const CACHED_STATEMENTS = 100
/** Waiting for a lock is fine on this thread, because it blocks nothing else. */
const BUSY_TIMEOUT_MS = 2_000

// Passed by off-thread-reader.ts, which starts this thread.
const { file } = workerData as { file: string }
const client = new SqliteClient(file, {
  readonly: true,
  fileMustExist: true,
  timeout: BUSY_TIMEOUT_MS,
})
await addVectorFunctions(client)
const statements = new Map<string, SqliteStatement>()

function prepare(sql: string): SqliteStatement {
  const found = statements.get(sql)
  if (found !== undefined) return found
  if (statements.size >= CACHED_STATEMENTS) statements.clear()
  const statement = client.prepare(sql).raw(true)
  statements.set(sql, statement)
  return statement
}

serveRequests(({ sql, values }: ReaderQuery): ReaderReply => {
  try {
    // A `Buffer` arrives as a plain `Uint8Array`, which the driver does not accept.
    const bound = values.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value))
    // A statement in raw mode returns rows as arrays.
    return { rows: prepare(sql).all(...bound) as unknown[][] }
  } catch (error) {
    const code = error instanceof SqliteClient.SqliteError ? error.code : ''
    return { message: errorText(error), code }
  }
})
