// The off-thread reader: long queries on a SQLite file run on a worker thread, which only exists while it is needed.
import type { Worker } from 'node:worker_threads'
import SqliteClient from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/sqlite-proxy'
import { type AppError, appError } from '../../errors.ts'
import { startWorker } from '../../lib/child-entry.ts'
import type { ConnectOptions, Reader } from '../database.ts'
import { toDrizzleLogger } from '../statements.ts'
import { bindable, translateSqliteError } from './client.ts'
import type { AsideAnswer, AsideQuestion } from './off-thread-reader.child.ts'

/** Milliseconds. */
const patience = { answer: 15_000, idle: 60_000 }

interface Waiting {
  resolve(rows: unknown[][]): void
  reject(error: unknown): void
}

const tooLong = (): AppError =>
  appError(
    'search_too_slow',
    {},
    {
      retryable: true,
      retryAfter: 5,
    },
  )

const faultOf = ({ message, code }: { message: string; code: string }): Error =>
  code === '' ? new Error(message) : new SqliteClient.SqliteError(message, code)

export function createSqliteAside(
  file: string,
  { onStatement }: Pick<ConnectOptions, 'onStatement'>,
): { reader: Reader; close(): Promise<void> } {
  const waiting = new Map<number, Waiting>()
  let worker: Worker | undefined
  let asked = 0
  let idleTimer: NodeJS.Timeout | undefined
  let closed = false

  /** Ends the thread; queries that still wait for it reject with the reason. */
  async function end(reason: unknown): Promise<void> {
    clearTimeout(idleTimer)
    const ending = worker
    worker = undefined
    for (const { reject } of waiting.values()) reject(reason)
    waiting.clear()
    await ending?.terminate()
  }

  function running(): Worker {
    clearTimeout(idleTimer)
    if (worker !== undefined) return worker
    const started = startWorker('db/sqlite/off-thread-reader.child', { workerData: { file } })
    const onGone = (error: unknown): void => {
      if (worker === started) void end(error)
    }
    started.on('error', onGone)
    started.on('exit', () => onGone(new Error('The thread that searches ended')))
    started.on('message', settle)
    worker = started
    return started
  }

  function settle(answer: AsideAnswer): void {
    const one = waiting.get(answer.id)
    waiting.delete(answer.id)
    if (waiting.size === 0) rest()
    if ('rows' in answer) one?.resolve(answer.rows)
    else one?.reject(translateSqliteError(faultOf(answer)))
  }

  /** Without waiting queries, the process may end, and so does the thread after a while. */
  function rest(): void {
    worker?.unref()
    idleTimer = setTimeout(() => void end(tooLong()), patience.idle)
    idleTimer.unref()
  }

  async function ask(sql: string, values: readonly unknown[]): Promise<unknown[][]> {
    if (closed) throw appError('store_closed')
    asked += 1
    const question: AsideQuestion = { id: asked, sql, values: values.map(bindable) }
    let timer: NodeJS.Timeout | undefined
    try {
      return await new Promise<unknown[][]>((resolve, reject) => {
        waiting.set(question.id, { resolve, reject })
        timer = setTimeout(() => void end(tooLong()), patience.answer)
        const thread = running()
        thread.ref()
        thread.postMessage(question)
      })
    } finally {
      clearTimeout(timer)
    }
  }

  const query = drizzle(async (sql, values, method) => {
    const rows = await ask(sql, values)
    return { rows: method === 'get' ? (rows[0] ?? []) : rows }
  }, toDrizzleLogger(onStatement))
  return {
    // Typed as PostgreSQL's builders, whose methods these have as well.
    reader: query as unknown as Reader,
    async close() {
      closed = true
      await end(appError('store_closed'))
    },
  }
}
