// SQLite as a `Database`: one read connection, and one write connection behind the write queue.
import { resolve } from 'node:path'
import { AppError, errorText } from '../../errors.ts'
import { sqliteColumns } from '../columns/sqlite.ts'
import type { ConnectOptions, Database, SqliteSettings, Writer } from '../database.ts'
import { createNestingGuard, trusting } from '../nesting.ts'
import { defineTables } from '../tables.ts'
import { openDoor, sqliteCode, translateSqliteError } from './client.ts'
import { openSqliteFile, whenFree } from './file.ts'
import { createOffThreadReader } from './off-thread-reader.ts'
import { createWalSync } from './wal-sync.ts'
import { createLane } from './write-queue.ts'

const QUEUE_CAPACITY = 10_000

/** An error for the operator, with the file's name and the cause. */
function unusable(file: string, error: unknown): AppError {
  if (error instanceof AppError && error.cause === undefined) return error
  const reason = error instanceof AppError ? error.cause : error
  return new AppError(
    'store_unavailable',
    `The database file ${file} cannot be used: ${errorText(reason)}`,
    { cause: error },
  )
}

/** @throws AppError with the file's name when it cannot be created, opened or read. */
export async function connectSqlite(
  settings: SqliteSettings,
  options: ConnectOptions,
): Promise<Database> {
  const file = resolve(settings.file)
  const busyTimeout = settings.busyTimeout ?? 10_000
  const { writing, reading } = await openSqliteFile(file, options.log).catch((error: unknown) => {
    throw unusable(file, error)
  })

  const lane = createLane(QUEUE_CAPACITY)
  const nesting = options.refuseNestedWrites ? createNestingGuard() : trusting
  const log = createWalSync(`${file}-wal`)
  // Opened now, while a file descriptor is available.
  await log.durable().catch((error: unknown) => {
    throw unusable(file, error)
  })
  const begin = writing.prepare('begin immediate')
  const commit = writing.prepare('commit')
  const rollback = writing.prepare('rollback')
  const writingDoor = openDoor(writing, options.onStatement)
  const ping = reading.prepare('select 1')
  // Typed as PostgreSQL's builders, whose methods these have as well.
  const reader = openDoor(reading, options.onStatement).drizzle as unknown as Database['read']
  const writer = Object.assign(writingDoor.drizzle, {
    lock: async () => {},
  }) as unknown as Writer

  const aside = createOffThreadReader(file, options)

  /** One transaction; the queue guarantees that no other is open. */
  async function transact<T>(deadline: number, work: (tx: Writer) => Promise<T>): Promise<T> {
    // Only `begin` can meet a lock of another process, so only `begin` waits.
    await whenFree(deadline, () => begin.run())
    writingDoor.takeFailure()
    try {
      const result = await nesting.enter(() => work(writer))
      // As on PostgreSQL, a failed statement fails its transaction, even if the work caught the error.
      const failure = writingDoor.takeFailure()
      if (failure !== undefined) throw failure
      commit.run()
      return result
    } catch (error) {
      throw translateSqliteError(error)
    } finally {
      // Some errors, a full disk among them, have already rolled back.
      if (writing.inTransaction) rollback.run()
    }
  }

  return {
    dialect: 'sqlite',
    tables: defineTables(sqliteColumns),
    read: reader,
    readOffThread: aside.reader,
    vectors: 'sqlite',
    async write(work) {
      nesting.refuseInside()
      const deadline = performance.now() + busyTimeout
      const result = await lane.run(() => transact(deadline, work))
      await log.durable()
      return result
    },
    isUniqueViolation: (error) =>
      ['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY'].includes(sqliteCode(error)),
    async ping() {
      ping.get()
    },
    async close() {
      await lane.idle()
      await aside.close()
      await log.close()
      reading.close()
      writing.close()
    },
  }
}
