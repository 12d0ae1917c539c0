// The off-thread reader: long queries on a SQLite file run on a worker thread, which only exists while it is needed.

import { drizzle } from 'drizzle-orm/sqlite-proxy'
import { appError } from '../../errors.ts'
import { SqliteClient } from '../../lib/sqlite-driver.ts'
import { createWorkerClient } from '../../lib/worker-client.ts'
import type { ConnectOptions, Reader } from '../database.ts'
import { toDrizzleLogger } from '../drivers.ts'
import { bindable, translateSqliteError } from './connection.ts'
import type { ReaderQuery, ReaderReply } from './off-thread-reader.child.ts'

const QUERY_TIMEOUT_MS = 15_000
const IDLE_MS = 60_000

const toError = ({ message, code }: { message: string; code: string }): Error =>
  code === '' ? new Error(message) : new SqliteClient.SqliteError(message, code)

/** Queries throw `search_too_slow` (503) after `QUERY_TIMEOUT_MS`, and `store_closed` after `close`. */
export function createOffThreadReader(
  file: string,
  { onStatement }: Pick<ConnectOptions, 'onStatement'>,
): { reader: Reader; close(): Promise<void> } {
  const client = createWorkerClient<ReaderQuery, ReaderReply>('db/sqlite/off-thread-reader.child', {
    worker: { workerData: { file } },
    startTimeoutMs: QUERY_TIMEOUT_MS,
    idleMs: IDLE_MS,
    timeoutError: () => appError('search_too_slow', {}, { retryable: true, retryAfter: 5 }),
  })
  let closed = false

  async function query(sql: string, values: readonly unknown[]): Promise<unknown[][]> {
    if (closed) throw appError('store_closed')
    const reply = await client.request(
      { sql, values: values.map(bindable) },
      { timeoutMs: QUERY_TIMEOUT_MS },
    )
    if ('rows' in reply) return reply.rows
    throw translateSqliteError(toError(reply))
  }

  const builder = drizzle(async (sql, values, method) => {
    const rows = await query(sql, values)
    return { rows: method === 'get' ? (rows[0] ?? []) : rows }
  }, toDrizzleLogger(onStatement))
  return {
    // SQLite's query builders have the methods of PostgreSQL's, whose types all queries use.
    reader: builder as unknown as Reader,
    async close() {
      closed = true
      await client.close(appError('store_closed'))
    },
  }
}
