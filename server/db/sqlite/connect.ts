// SQLite as a `Database`: one read connection, and one write connection behind the write queue.
import { resolve } from 'node:path'
import { AppError, errorText } from '../../errors.ts'
import { sqliteColumns } from '../columns/sqlite.ts'
import type { ConnectOptions, Database, SqliteSettings, Writer } from '../database.ts'
import { createNestingGuard, noNestingGuard } from '../nesting.ts'
import { defineTables } from '../tables.ts'
import { createConnection, sqliteCode, translateSqliteError } from './client.ts'
import { openSqliteFile, retryWhileBusy } from './file.ts'
import { createOffThreadReader } from './off-thread-reader.ts'
import { createWalCheckpoint } from './wal-checkpoint.ts'
import { createWalSync } from './wal-sync.ts'
import { createWriteQueue } from './write-queue.ts'

/** Writes that may wait at the same time. */
const QUEUE_CAPACITY = 10_000

/** An error for the operator that names the file and the cause. */
function fileError(file: string, error: unknown): AppError {
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
    throw fileError(file, error)
  })

  const writeQueue = createWriteQueue(QUEUE_CAPACITY)
  const nestingGuard = options.refuseNestedWrites ? createNestingGuard() : noNestingGuard
  const walSync = createWalSync(`${file}-wal`)
  // Opens the log now, while a file descriptor is available.
  await walSync.syncCommits().catch((error: unknown) => {
    throw fileError(file, error)
  })
  const walCheckpoint = createWalCheckpoint(file, writing, writeQueue.run, options.log)
  const begin = writing.prepare('begin immediate')
  const commit = writing.prepare('commit')
  const rollback = writing.prepare('rollback')
  const writeConnection = createConnection(writing, options.onStatement)
  const ping = reading.prepare('select 1')
  // SQLite's query builders have the methods of PostgreSQL's, whose types all queries use.
  const reader = createConnection(reading, options.onStatement)
    .drizzle as unknown as Database['read']
  const writer = Object.assign(writeConnection.drizzle, {
    lock: async () => {},
  }) as unknown as Writer

  const offThreadReader = createOffThreadReader(file, options)

  /** One transaction; the queue guarantees that no other is open. */
  async function transact<T>(deadline: number, work: (tx: Writer) => Promise<T>): Promise<T> {
    // Only `begin` can encounter a lock of another process, so only `begin` is retried.
    await retryWhileBusy(deadline, () => begin.run())
    writeConnection.takeFailure()
    try {
      const result = await nestingGuard.enter(() => work(writer))
      // As on PostgreSQL, a failed statement fails its transaction, even if the work caught the error.
      const failure = writeConnection.takeFailure()
      if (failure !== undefined) throw failure
      commit.run()
      walCheckpoint.afterCommit()
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
    readInOrder: (work) => work(reader),
    readOffThread: offThreadReader.reader,
    vectors: 'sqlite',
    async write(work) {
      nestingGuard.assertOutside()
      const deadline = performance.now() + busyTimeout
      const result = await writeQueue.run(() => transact(deadline, work))
      await walSync.syncCommits()
      return result
    },
    isUniqueViolation: (error) =>
      ['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY'].includes(sqliteCode(error)),
    async ping() {
      ping.get()
    },
    async close() {
      await walCheckpoint.close()
      await writeQueue.idle()
      await offThreadReader.close()
      await walSync.close()
      reading.close()
      writing.close()
    },
  }
}
