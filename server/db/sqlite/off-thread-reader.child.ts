// The worker thread that runs long queries on a SQLite file, over a read-only connection of its own.
import { parentPort, workerData } from 'node:worker_threads'
import SqliteClient from 'better-sqlite3'
import { errorText } from '../../errors.ts'
import { addVectorFunctions } from '../vectors/sqlite.ts'

export interface AsideQuestion {
  id: number
  sql: string
  values: readonly unknown[]
}
export type AsideAnswer =
  | { id: number; rows: unknown[][] }
  /** `code` is the driver's, '' for anything else. */
  | { id: number; message: string; code: string }

const CACHED_STATEMENTS = 100
/** Waiting for a lock is allowed here, because it blocks nothing else. */
const BUSY_TIMEOUT_MS = 2_000

// Passed by the code that starts this thread.
const { file } = workerData as { file: string }
const client = new SqliteClient(file, {
  readonly: true,
  fileMustExist: true,
  timeout: BUSY_TIMEOUT_MS,
})
await addVectorFunctions(client)
const kept = new Map<string, SqliteClient.Statement>()

function prepare(sql: string): SqliteClient.Statement {
  const found = kept.get(sql)
  if (found !== undefined) return found
  if (kept.size >= CACHED_STATEMENTS) kept.clear()
  const statement = client.prepare(sql).raw(true)
  kept.set(sql, statement)
  return statement
}

function answer({ id, sql, values }: AsideQuestion): AsideAnswer {
  try {
    // Buffers lose their class on the way between threads.
    const given = values.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value))
    // A statement in raw mode returns rows as arrays.
    return { id, rows: prepare(sql).all(...given) as unknown[][] }
  } catch (error) {
    const code = error instanceof SqliteClient.SqliteError ? error.code : ''
    return { id, message: errorText(error), code }
  }
}

parentPort?.on('message', (question: AsideQuestion) => parentPort?.postMessage(answer(question)))
