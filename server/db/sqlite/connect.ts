// SQLite as a `Database`: one read connection, and one write connection behind the write queue.
import { chmodSync, closeSync, constants, openSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { AppError, appError, errorText } from '../../errors.ts'
import { makeFolder } from '../../lib/make-folder.ts'
import { SqliteClient, type SqliteDatabase } from '../../lib/sqlite-driver.ts'
import { createWorkerClient } from '../../lib/worker-client.ts'
import { sqliteColumns } from '../columns/sqlite.ts'
import type { ConnectOptions, Database, SqliteSettings, StoreLog, Writer } from '../database.ts'
import { createNestingGuard, noNestingGuard } from '../drivers.ts'
import { MIGRATIONS_TABLE, pendingMigrations } from '../migrate.ts'
import { defineTables } from '../tables.ts'
import { createConnection, isSqliteBusy, sqliteCode, translateSqliteError } from './connection.ts'
import { createOffThreadReader } from './off-thread-reader.ts'
import type { CheckpointReply } from './wal-checkpoint.child.ts'

// Opening a SQLite file: modes, locks, migrations.

/** Pauses between attempts to get a lock: each is twice as long as the one before, up to `longest`. */
const RETRY_DELAY_MS = { first: 2, longest: 50 }

/**
 * Retries while a lock is held, without blocking the event loop.
 * @param deadline when to give up, on the clock of `performance.now`.
 * @throws the translated error of the last attempt.
 */
async function retryWhileBusy<T>(deadline: number, action: () => T): Promise<T> {
  for (let delay = RETRY_DELAY_MS.first; ; delay = Math.min(delay * 2, RETRY_DELAY_MS.longest)) {
    try {
      return action()
    } catch (error) {
      if (!isSqliteBusy(error) || performance.now() >= deadline) throw translateSqliteError(error)
    }
    await sleep(delay)
  }
}

function openClient(file: string, readonly: boolean): SqliteDatabase {
  // SQLite's own busy timeout would block the event loop; `retryWhileBusy` waits for locks instead.
  const client = new SqliteClient(file, { readonly, fileMustExist: true, timeout: 0 })
  try {
    client.pragma('foreign_keys = ON')
    client.pragma('synchronous = FULL')
  } catch (error) {
    client.close()
    throw error
  }
  return client
}

const hasTable = (client: SqliteDatabase, name: string): boolean =>
  client.prepare(`select 1 from sqlite_master where type = 'table' and name = ?`).get(name) !==
  undefined

const appliedMigrations = (client: SqliteDatabase): number[] =>
  hasTable(client, MIGRATIONS_TABLE)
    ? client.prepare(`select created_at from ${MIGRATIONS_TABLE}`).pluck().all().map(Number)
    : []

/** Applies missing migrations in one transaction, after backing up a database that contains data. */
async function migrate(
  client: SqliteDatabase,
  file: string,
  log: StoreLog,
  deadline: number,
): Promise<void> {
  if (pendingMigrations('sqlite', appliedMigrations(client)).length === 0) return
  if (hasTable(client, 'users')) {
    const copy = `${file}.before-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
    await retryWhileBusy(deadline, () => client.prepare('vacuum into ?').run(copy))
    chmodSync(copy, 0o600)
    log.info({ copy }, `copied the database to ${copy} before changing its tables`)
  }
  await retryWhileBusy(deadline, () => client.exec('begin exclusive'))
  try {
    // Checked again: another process may have migrated while this one waited for the lock.
    const pending = pendingMigrations('sqlite', appliedMigrations(client))
    client.exec(
      `create table if not exists ${MIGRATIONS_TABLE} (id integer primary key, hash text not null, created_at numeric)`,
    )
    const recordMigration = client.prepare(
      `insert into ${MIGRATIONS_TABLE} (hash, created_at) values (?, ?)`,
    )
    for (const migration of pending) {
      for (const statement of migration.sql) client.exec(statement)
      recordMigration.run(migration.hash, migration.folderMillis)
    }
    client.exec('commit')
  } finally {
    if (client.inTransaction) client.exec('rollback')
  }
}

/**
 * Opens and migrates a file, creating it if necessary; folder and file are readable by their owner only.
 * @throws AppError when a lock is held for more than eight seconds; otherwise the driver's error.
 */
async function openSqliteFile(
  file: string,
  log: StoreLog,
): Promise<{ writing: SqliteDatabase; reading: SqliteDatabase }> {
  const deadline = performance.now() + 8_000
  makeFolder(dirname(file))
  closeSync(openSync(file, 'a', 0o600))
  chmodSync(file, 0o600)
  const writing = await retryWhileBusy(deadline, () => openClient(file, false))
  try {
    await retryWhileBusy(deadline, () => writing.pragma('journal_mode = WAL'))
    await migrate(writing, file, log, deadline)
    // From here on, the sync after each commit happens off the event loop: see `createWalSync`.
    await retryWhileBusy(deadline, () => writing.pragma('synchronous = NORMAL'))
    return { writing, reading: await retryWhileBusy(deadline, () => openClient(file, true)) }
  } catch (error) {
    writing.close()
    throw error
  }
}

// Makes SQLite's commits durable without blocking the event loop: the write-ahead log is synced in the thread pool.

/** Syncs the write-ahead log off the event loop (decision 0008). */
interface WalSync {
  /**
   * Resolves when every commit made before the call is on the disk; concurrent calls share one sync.
   * @throws AppError `disk_unconfirmed` when the sync fails: the commits are written, but may not survive a power failure.
   */
  syncCommits(): Promise<void>
  close(): Promise<void>
}

/**
 * The connection commits with `synchronous = NORMAL`, which omits only the sync of the log after a commit
 * (https://www.sqlite.org/pragma.html#pragma_synchronous). That sync happens here, before a commit is reported, so
 * reported commits are as safe as with `FULL`. SQLite would sync on the event loop, where a slow disk blocks every
 * stream; here concurrent commits also share one sync.
 *
 * @param logFile the database's `-wal` file. It lives as long as the connection.
 */
function createWalSync(logFile: string): WalSync {
  let file: Promise<FileHandle> | undefined
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  async function sync(): Promise<void> {
    // A log that could not be opened (too many open files) is tried again by the next call.
    file ??= open(logFile, constants.O_RDWR).catch((error: unknown) => {
      file = undefined
      throw error
    })
    try {
      const handle = await file
      await handle.datasync()
    } catch (error) {
      // Not retryable: the rows are written, and a retry would write them twice.
      throw appError('disk_unconfirmed', {}, { cause: error })
    }
  }

  function start(): Promise<void> {
    const one = sync().finally(() => {
      if (running === one) running = undefined
    })
    running = one
    return one
  }

  return {
    syncCommits() {
      if (running === undefined) return start()
      // A sync in progress may have started before the commit. All calls until the next one starts share that one.
      next ??= running
        .catch(() => {})
        .then(() => {
          next = undefined
          return start()
        })
      return next
    },
    async close() {
      await (next ?? running)?.catch(() => {})
      await (await file?.catch(() => undefined))?.close()
      file = undefined
    },
  }
}

// The write queue: makes SQLite's single writer explicit, one transaction at a time.

/** Milliseconds that writes may run back to back before they yield to the event loop. */
const TURN_LIMIT_MS = 5

/** One transaction at a time, in order. */
interface WriteQueue {
  /** Runs `work` when everything queued before it has settled. */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Resolves when the queue is empty. */
  idle(): Promise<void>
}

/** @param capacity maximum queue length; further work is refused with `store_overloaded`. */
function createWriteQueue(capacity: number): WriteQueue {
  let last: Promise<void> = Promise.resolve()
  let count = 0
  /** When the first write of this turn of the event loop started; null until then. */
  let turnStartedAt: number | null = null

  /** SQLite's statements settle without yielding to the event loop, so a full queue would starve everything else. */
  async function yieldToEventLoop(): Promise<void> {
    if (turnStartedAt !== null && performance.now() - turnStartedAt > TURN_LIMIT_MS)
      await nextTurn()
    if (turnStartedAt !== null) return
    turnStartedAt = performance.now()
    setImmediate(() => {
      turnStartedAt = null
    })
  }

  return {
    async run<T>(work: () => Promise<T>): Promise<T> {
      if (count >= capacity)
        throw appError('store_overloaded', {}, { retryable: true, retryAfter: 2 })
      const before = last
      let done = (): void => {}
      last = new Promise((resolve) => {
        done = resolve
      })
      count += 1
      try {
        await before
        await yieldToEventLoop()
        return await work()
      } finally {
        count -= 1
        done()
      }
    },
    async idle() {
      while (count > 0) await last
    },
  }
}

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
    writeConnection.clearFailure()
    try {
      const result = await nestingGuard.enter(() => work(writer))
      // As on PostgreSQL, a failed statement fails its transaction, even if the work caught the error.
      const failure = writeConnection.clearFailure()
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

// Moves committed pages from SQLite's write-ahead log into the database file, on a worker thread (decision 0008).

/** From so many pages in the log that are not in the file, they are moved: 16 MB at SQLite's page size of 4 KB. */
export const CHECKPOINT_PAGES = 4_000
/**
 * From this length of the log (128 MB), SQLite moves its pages itself, within a commit: if the thread fails or cannot keep up.
 * Far above the other limit, because a thread takes a moment to start, and this would block the event loop for 0.1 s.
 */
export const LONGEST_LOG_PAGES = 32_000
/** A log that had to grow beyond this is shortened to it when it starts again. */
const KEPT_LOG_BYTES = 64 * 1024 * 1024
/** How long after a commit the log's length is read; commits meanwhile are included. */
const CHECK_MS = 100
const TIMEOUT_MS = 60_000
/** The thread takes 20 MB. */
const IDLE_MS = 10_000

/** Keeps the write-ahead log short. */
interface WalCheckpoint {
  /** Call it after each commit. It does not wait; if the log has grown long, its pages are moved soon. */
  afterCommit(): void
  close(): Promise<void>
}

/**
 * @param writing the only connection that commits.
 * @param pauseWrites runs `work` while no transaction is open.
 */
function createWalCheckpoint(
  file: string,
  writing: SqliteDatabase,
  pauseWrites: (work: () => Promise<void>) => Promise<void>,
  log: StoreLog,
): WalCheckpoint {
  writing.pragma(`wal_autocheckpoint = ${LONGEST_LOG_PAGES}`)
  writing.pragma(`journal_size_limit = ${KEPT_LOG_BYTES}`)
  // Reports the pages in the log and those of them that were moved: https://www.sqlite.org/pragma.html#pragma_wal_checkpoint
  const lengths = writing.prepare<[], [busy: number, pages: number, moved: number]>(
    'pragma wal_checkpoint(NOOP)',
  )
  lengths.raw(true)
  const client = createWorkerClient<null, CheckpointReply>('db/sqlite/wal-checkpoint.child', {
    worker: { argv: [file] },
    startTimeoutMs: TIMEOUT_MS,
    idleMs: IDLE_MS,
    timeoutError: (ms) => new Error(`moving the write-ahead log took more than ${ms} ms`),
  })
  let timer: NodeJS.Timeout | undefined
  let isRunning = false
  let isClosed = false

  const pagesToMove = (): number => {
    const [, pages = 0, moved = 0] = lengths.get() ?? []
    return pages - moved
  }
  async function movePages(): Promise<void> {
    const { failure } = await client.request(null, { timeoutMs: TIMEOUT_MS })
    if (failure !== undefined) throw new Error(failure)
  }

  /** Nothing is lost: a later commit tries again, or SQLite does it itself. */
  function report(error: unknown): void {
    if (!isClosed)
      log.warn({ err: error }, `the write-ahead log was not moved: ${errorText(error)}`)
  }

  /**
   * Moves most pages while writes go on. The log only starts again once everything in it was moved, so writes wait until the
   * few pages that came meanwhile are moved too.
   */
  async function checkpoint(): Promise<void> {
    isRunning = true
    try {
      await movePages()
      await pauseWrites(async () => {
        if (!isClosed && pagesToMove() > 0) await movePages()
      })
    } catch (error) {
      report(error)
    } finally {
      isRunning = false
    }
  }

  function check(): void {
    timer = undefined
    try {
      // SQLite refuses the question within a transaction. Its commit asks again.
      if (!writing.inTransaction && pagesToMove() >= CHECKPOINT_PAGES) void checkpoint()
    } catch (error) {
      report(error)
    }
  }

  return {
    afterCommit() {
      if (!isRunning && !isClosed) timer ??= setTimeout(check, CHECK_MS).unref()
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await client.close()
    },
  }
}
