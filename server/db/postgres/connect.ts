// PostgreSQL as a `Database`: a pool whose lost connections are retried within bounds and then reported clearly.
import { setTimeout as sleep } from 'node:timers/promises'
import { type NodePgClient, NodePgSession } from 'drizzle-orm/node-postgres'
import { PgDatabase, PgDialect } from 'drizzle-orm/pg-core'
import pLimit from 'p-limit'
import pg from 'pg'
import { AppError, appError } from '../../errors.ts'
import { postgresColumns } from '../columns/postgres.ts'
import type {
  ConnectOptions,
  Database,
  PostgresSettings,
  Reader,
  StatementListener,
  Writer,
} from '../database.ts'
import {
  bindableText,
  createNestingGuard,
  type NestingGuard,
  noNestingGuard,
  toDrizzleLogger,
} from '../drivers.ts'
import { defineTables } from '../tables.ts'
import { preparePgvector } from '../vectors/pgvector.ts'
import {
  isConnectionLost,
  isUnresponsive,
  postgresCode,
  postgresUnusable,
  translatePostgresError,
} from './errors.ts'
import { migratePostgres } from './migrate.ts'

// Distinguishes a slow statement from a silent server: probes over a second connection whether the server responds.

/** Settles as the statement does, or rejects when the server stops responding before that. */
type SilenceWatch = <T>(statement: Promise<T>) => Promise<T>

/**
 * @param config as for a client; a probe uses its own connection, outside the pool.
 * @param timing `silenceMs`: how long a statement may take before each probe; `probeMs`: how long a probe may take.
 */
function createSilenceWatch(
  config: pg.ClientConfig,
  { silenceMs, probeMs }: { silenceMs: number; probeMs: number },
): SilenceWatch {
  let pendingProbe: Promise<boolean> | undefined
  /** Concurrent statements share one probe. */
  const isResponding = (): Promise<boolean> => {
    pendingProbe ??= probe(config, probeMs).finally(() => {
      pendingProbe = undefined
    })
    return pendingProbe
  }

  return (statement) =>
    new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined
      let isSettled = false
      const watch = (): void => {
        timer = setTimeout(async () => {
          if (await isResponding()) {
            if (!isSettled) watch()
          } else reject(new Error('The server is silent.'))
        }, silenceMs)
      }
      watch()
      const settle = (): void => {
        isSettled = true
        clearTimeout(timer)
      }
      statement.then(resolve, reject).finally(settle)
    })
}

/** Whether the server responds to a new client in time; a refusal (too many connections) counts too. */
async function probe(config: pg.ClientConfig, limitMs: number): Promise<boolean> {
  const client = new pg.Client({
    ...config,
    connectionTimeoutMillis: limitMs,
    query_timeout: limitMs,
    application_name: 'nanoclaw probe',
  })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch (error) {
    const code = postgresCode(error)
    return code === '53300' || (/^[0-9A-Z]{5}$/.test(code) && !isConnectionLost(error))
  } finally {
    void client.end().catch(() => {})
  }
}

// Sends everything for a connection in one turn of the event loop with one system call: the statements of a transaction
// leave together.

const gathering = new WeakSet<pg.PoolClient>()

/**
 * Buffers what is sent over the connection until every statement that needs no earlier result has been sent, so that they
 * take one system call (decision 0018).
 */
function sendTogether(client: pg.PoolClient): void {
  // Clients of a pool are instances of `Client`, although their type does not say so.
  if (gathering.has(client) || !(client instanceof pg.Client)) return
  const { stream } = client.connection
  gathering.add(client)
  stream.cork()
  // Runs after the promises of this turn, which start the statements that need no earlier result.
  queueMicrotask(() =>
    process.nextTick(() => {
      gathering.delete(client)
      stream.uncork()
    }),
  )
}

// The queue for connections: while the database is busy, work waits; while it is unreachable, waiting work fails at once.

/** Units of work that may wait at the same time. */
const CAPACITY = 10_000

/** Waits for a free connection, in order. */
interface ConnectionQueue {
  /** Runs `work` once a connection is free. @throws AppError `store_overloaded` when too many are waiting. */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Rejects all waiting work with `store_unanswered`, because the database does not respond. */
  rejectWaiting(): void
}

/** @param connections how many may run at the same time. */
function createConnectionQueue(connections: number): ConnectionQueue {
  const limit = pLimit({ concurrency: connections, rejectOnClear: true })
  return {
    async run<T>(work: () => Promise<T>): Promise<T> {
      if (limit.pendingCount >= CAPACITY)
        throw appError('store_overloaded', {}, { retryable: true, retryAfter: 2 })
      let isStarted = false
      try {
        return await limit(() => {
          isStarted = true
          return work()
        })
      } catch (error) {
        if (isStarted) throw error
        throw appError('store_unanswered', {}, { retryable: true, retryAfter: 5, cause: error })
      }
    },
    rejectWaiting: () => limit.clearQueue(),
  }
}

/**
 * `connect`, `silence` with `probe`, and `retry` keep a response under three seconds while the database is unreachable;
 * `lock` limits how long a statement waits for locks while the database is healthy, `statement` how long it may run.
 */
const TIMEOUTS_MS = {
  connect: 1_800,
  silence: 1_800,
  probe: 700,
  retry: 1_000,
  firstDelay: 25,
  lock: 10_000,
  statement: 15_000,
}

/** Retries work that failed because the connection was lost. Only for work that has not changed anything yet. */
async function retryLostConnection<T>(action: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + TIMEOUTS_MS.retry
  for (let delay = TIMEOUTS_MS.firstDelay; ; delay *= 2) {
    try {
      return await action()
    } catch (error) {
      if (!isConnectionLost(error) || performance.now() + delay >= deadline) throw error
    }
    await sleep(delay)
  }
}

/** Held until the transaction ends. */
const LOCK_STATEMENT = {
  name: 'lock name',
  text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
}

type RunQuery = (config: pg.QueryConfig, values: unknown[]) => Promise<pg.QueryResult>

/** drizzle's query builder over anything that can run a statement; converts values and translates errors. */
function createQueryBuilder(run: RunQuery, onStatement: StatementListener | undefined) {
  const query: RunQuery = (config, values) =>
    run(
      config,
      values.map((value) => (typeof value === 'string' ? bindableText(value) : value)),
    )
  const dialect = new PgDialect()
  // drizzle only calls `query` of a client.
  const client = { query } as unknown as NodePgClient
  const session = new NodePgSession(client, dialect, undefined, toDrizzleLogger(onStatement))
  const prepare = session.prepareQuery.bind(session)
  Object.assign(session, {
    prepareQuery: (...values: Parameters<typeof prepare>) => {
      const prepared = prepare(...values)
      const execute = prepared.execute.bind(prepared)
      prepared.execute = (placeholders) =>
        execute(placeholders).catch((error: unknown) => {
          throw translatePostgresError(error)
        })
      return prepared
    },
  })
  return new PgDatabase(dialect, session, undefined)
}

/** The driver's configuration for a server. */
export const clientConfig = ({ connection }: PostgresSettings): pg.ClientConfig =>
  'url' in connection ? { connectionString: connection.url } : connection

async function detectVectorSupport(
  config: pg.ClientConfig,
  log: ConnectOptions['log'],
): Promise<Database['vectors']> {
  const reason = await preparePgvector(config)
  if (reason === null) return 'pgvector'
  log.warn(
    { reason },
    'pgvector is unavailable: vector search reads all passages of a project, which is slow in large projects',
  )
  return 'scan'
}

/** The connections to one server. */
interface Connection {
  pool: pg.Pool
  onStatement: StatementListener | undefined
  withSilenceCheck: ReturnType<typeof createSilenceWatch>
  nestingGuard: NestingGuard
  /** Separate limits, so that a transaction that also reads outside of itself cannot wait for a connection that it holds. */
  writeQueue: ReturnType<typeof createConnectionQueue>
  readQueue: ReturnType<typeof createConnectionQueue>
  /** A writer for each connection of the pool. */
  writers: WeakMap<pg.PoolClient, Writer>
}

type Outcome<T> = { result: T } | { failure: unknown }

/** @throws AppError within ten seconds when the server cannot be reached or refuses the connection. */
export async function connectPostgres(
  settings: PostgresSettings,
  { log, onStatement, refuseNestedWrites }: ConnectOptions,
): Promise<Database> {
  const config = clientConfig(settings)
  const poolSize = Math.max(2, settings.poolSize ?? 10)
  const migrations = await migratePostgres(config).catch((error: unknown) => {
    if (error instanceof AppError) throw error
    throw postgresUnusable(error)
  })
  if (migrations > 0)
    log.info(
      { migrations },
      `applied ${migrations} ${migrations === 1 ? 'migration' : 'migrations'}; no copy of the PostgreSQL database was made before (to be able to go back, run pg_dump before an upgrade)`,
    )

  const vectors = settings.embeddings === true ? await detectVectorSupport(config, log) : 'scan'

  const pool = new pg.Pool({
    ...config,
    max: poolSize,
    // Statements that do not wait for each other are sent together: fewer system calls and waits.
    pipeline: true,
    keepAlive: true,
    connectionTimeoutMillis: TIMEOUTS_MS.connect,
    statement_timeout: TIMEOUTS_MS.statement,
    lock_timeout: TIMEOUTS_MS.lock,
    idle_in_transaction_session_timeout: settings.idleInTransactionMs ?? 30_000,
    application_name: 'nanoclaw',
  })
  const logLostConnection = (error: Error) =>
    log.warn({ reason: error.message }, 'lost a connection to PostgreSQL')
  pool.on('error', logLostConnection)
  // The pool listens to idle connections only; an unhandled error of one in use would end the process.
  pool.on('connect', (client) => {
    client.on('error', logLostConnection)
  })

  const connection: Connection = {
    pool,
    onStatement,
    withSilenceCheck: createSilenceWatch(config, {
      silenceMs: TIMEOUTS_MS.silence,
      probeMs: TIMEOUTS_MS.probe,
    }),
    nestingGuard: refuseNestedWrites ? createNestingGuard() : noNestingGuard,
    writeQueue: createConnectionQueue(Math.ceil(poolSize / 2)),
    readQueue: createConnectionQueue(Math.floor(poolSize / 2)),
    writers: new WeakMap(),
  }
  const { nestingGuard, readQueue, writeQueue } = connection

  const reader: Reader = createQueryBuilder(
    (query, values) =>
      readQueue.run(() => withConnection(connection, () => queryOnce(connection, query, values))),
    onStatement,
  )

  return {
    dialect: 'postgres',
    tables: defineTables(postgresColumns),
    read: reader,
    readInOrder: (work) =>
      readQueue
        .run(() => withConnection(connection, () => readOnce(connection, work)))
        .catch((error: unknown) => {
          throw translatePostgresError(error)
        }),
    readOffThread: reader,
    vectors,
    async write(work) {
      nestingGuard.assertOutside()
      return writeQueue.run(() => transact(connection, work))
    },
    isUniqueViolation: (error) => postgresCode(error) === '23505',
    async ping() {
      await queryOnce(connection, { text: 'select 1' }, []).catch((error: unknown) => {
        throw translatePostgresError(error)
      })
    },
    async close() {
      if (!pool.ended && !pool.ending) await pool.end()
    },
  }
}

/** Runs a single statement on a pooled connection, which is discarded if the server does not respond. */
async function queryOnce(
  { pool, withSilenceCheck }: Connection,
  query: pg.QueryConfig,
  values: unknown[],
): Promise<pg.QueryResult> {
  const client = await pool.connect()
  let isBroken = false
  try {
    return await withSilenceCheck(client.query(query, values))
  } catch (error) {
    isBroken = isUnresponsive(error)
    throw error
  } finally {
    client.release(isBroken)
  }
}

/** Retries a lost connection; if the server does not respond, also rejects everything that waits for a connection. */
async function withConnection<T>(
  { readQueue, writeQueue }: Connection,
  action: () => Promise<T>,
): Promise<T> {
  try {
    return await retryLostConnection(action)
  } catch (error) {
    if (isUnresponsive(error)) {
      readQueue.rejectWaiting()
      writeQueue.rejectWaiting()
    }
    throw error
  }
}

/** Runs a statement on a connection that may have several statements in progress. */
const runOn = (
  { withSilenceCheck }: Connection,
  client: pg.PoolClient,
  ...query: Parameters<RunQuery>
): ReturnType<RunQuery> => {
  sendTogether(client)
  return withSilenceCheck(client.query(...query))
}

function writerOver(connection: Connection, client: pg.PoolClient): Writer {
  const { writers, onStatement } = connection
  const known = writers.get(client)
  if (known !== undefined) return known
  const writer = Object.assign(
    createQueryBuilder((query, values) => runOn(connection, client, query, values), onStatement),
    {
      lock: async (name: string) => {
        await runOn(connection, client, LOCK_STATEMENT, [name]).catch((error: unknown) => {
          throw translatePostgresError(error)
        })
      },
    },
  )
  writers.set(client, writer)
  return writer
}

/** Runs queries over one connection, which is discarded if the server does not respond. */
async function readOnce<T>(connection: Connection, work: (read: Reader) => Promise<T>): Promise<T> {
  const { pool } = connection
  const client = await pool.connect()
  let isBroken = false
  try {
    return await work(writerOver(connection, client))
  } catch (error) {
    const cause = error instanceof AppError ? (error.cause ?? error) : error
    isBroken = isUnresponsive(cause)
    throw cause
  } finally {
    client.release(isBroken)
  }
}

/**
 * Performs one transaction. Its first statements are sent together with `begin`.
 * @throws if it could not begin. Nothing has been written then, so it may be retried on another connection.
 */
async function tryTransaction<T>(
  connection: Connection,
  work: (tx: Writer) => Promise<T>,
): Promise<Outcome<T>> {
  const { pool, withSilenceCheck, nestingGuard } = connection
  const client = await pool.connect()
  sendTogether(client)
  const begun = withSilenceCheck(client.query('begin'))
  const refusal = begun.then(
    () => null,
    (error: unknown) => ({ error }),
  )
  let isBroken = false
  try {
    const result = await nestingGuard.enter(() => work(writerOver(connection, client)))
    await begun
    const { command } = await withSilenceCheck(client.query('commit'))
    // A failed statement fails its transaction, even if the work caught the error.
    if (command !== 'COMMIT') throw new Error('A statement of the transaction failed.')
    return { result }
  } catch (error) {
    const refused = await refusal
    if (refused !== null) {
      isBroken = true
      throw refused.error
    }
    const translated = translatePostgresError(error)
    // A silent connection would not respond to `rollback` either.
    isBroken = translated instanceof AppError && translated.code === 'store_unavailable'
    if (!isBroken)
      await client.query('rollback').catch(() => {
        isBroken = true
      })
    return { failure: translated }
  } finally {
    client.release(isBroken)
  }
}

async function transact<T>(connection: Connection, work: (tx: Writer) => Promise<T>): Promise<T> {
  const outcome = await withConnection(connection, () => tryTransaction(connection, work)).catch(
    (error: unknown) => {
      throw translatePostgresError(error)
    },
  )
  if ('failure' in outcome) throw outcome.failure
  return outcome.result
}
