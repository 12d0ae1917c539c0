// PostgreSQL as a `Database`: a pool whose lost connections are retried within bounds and then reported clearly.
import { setTimeout as sleep } from 'node:timers/promises'
import { type NodePgClient, NodePgSession } from 'drizzle-orm/node-postgres'
import { PgDatabase, PgDialect } from 'drizzle-orm/pg-core'
import pg from 'pg'
import { AppError } from '../../errors.ts'
import { postgresColumns } from '../columns/postgres.ts'
import type {
  ConnectOptions,
  Database,
  PostgresSettings,
  Reader,
  StatementListener,
  Writer,
} from '../database.ts'
import { createNestingGuard, noNestingGuard } from '../nesting.ts'
import { bindableText, toDrizzleLogger } from '../statements.ts'
import { defineTables } from '../tables.ts'
import { preparePgvector } from '../vectors/pgvector.ts'
import { createConnectionQueue } from './connection-queue.ts'
import {
  isConnectionLost,
  isUnresponsive,
  postgresCode,
  postgresUnusable,
  translatePostgresError,
} from './errors.ts'
import { migratePostgres } from './migrate.ts'
import { sendTogether } from './sent-together.ts'
import { createSilenceWatch } from './silence.ts'

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

/** @throws AppError within ten seconds when the server cannot be reached or refuses the connection. */
export async function connectPostgres(
  settings: PostgresSettings,
  { log, onStatement, refuseNestedWrites }: ConnectOptions,
): Promise<Database> {
  const config = clientConfig(settings)
  const poolSize = Math.max(2, settings.poolSize ?? 10)
  await migratePostgres(config).catch((error: unknown) => {
    if (error instanceof AppError) throw error
    throw postgresUnusable(error)
  })

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

  const withSilenceCheck = createSilenceWatch(config, {
    silenceMs: TIMEOUTS_MS.silence,
    probeMs: TIMEOUTS_MS.probe,
  })
  /** Runs a single statement on a pooled connection, which is discarded if the server does not respond. */
  async function queryOnce(query: pg.QueryConfig, values: unknown[]): Promise<pg.QueryResult> {
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
  const nestingGuard = refuseNestedWrites ? createNestingGuard() : noNestingGuard
  // Separate limits, so that a transaction that also reads outside of itself cannot wait for a connection that it holds.
  const writeQueue = createConnectionQueue(Math.ceil(poolSize / 2))
  const readQueue = createConnectionQueue(Math.floor(poolSize / 2))

  /** Retries a lost connection; if the server does not respond, also rejects everything that waits for a connection. */
  async function withConnection<T>(action: () => Promise<T>): Promise<T> {
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

  const reader: Reader = createQueryBuilder(
    (query, values) => readQueue.run(() => withConnection(() => queryOnce(query, values))),
    onStatement,
  )

  /** Runs a statement on a connection that may have several statements in progress. */
  const runOn = (client: pg.PoolClient, ...query: Parameters<RunQuery>): ReturnType<RunQuery> => {
    sendTogether(client)
    return withSilenceCheck(client.query(...query))
  }

  const writers = new WeakMap<pg.PoolClient, Writer>()
  function writerOver(client: pg.PoolClient): Writer {
    const known = writers.get(client)
    if (known !== undefined) return known
    const writer = Object.assign(
      createQueryBuilder((query, values) => runOn(client, query, values), onStatement),
      {
        lock: async (name: string) => {
          await runOn(client, LOCK_STATEMENT, [name]).catch((error: unknown) => {
            throw translatePostgresError(error)
          })
        },
      },
    )
    writers.set(client, writer)
    return writer
  }

  /** Runs queries over one connection, which is discarded if the server does not respond. */
  async function readOnce<T>(work: (read: Reader) => Promise<T>): Promise<T> {
    const client = await pool.connect()
    let isBroken = false
    try {
      return await work(writerOver(client))
    } catch (error) {
      const cause = error instanceof AppError ? (error.cause ?? error) : error
      isBroken = isUnresponsive(cause)
      throw cause
    } finally {
      client.release(isBroken)
    }
  }

  type Outcome<T> = { result: T } | { failure: unknown }

  /**
   * Performs one transaction. Its first statements are sent together with `begin`.
   * @throws if it could not begin. Nothing has been written then, so it may be retried on another connection.
   */
  async function tryTransaction<T>(work: (tx: Writer) => Promise<T>): Promise<Outcome<T>> {
    const client = await pool.connect()
    sendTogether(client)
    const begun = withSilenceCheck(client.query('begin'))
    const refusal = begun.then(
      () => null,
      (error: unknown) => ({ error }),
    )
    let isBroken = false
    try {
      const result = await nestingGuard.enter(() => work(writerOver(client)))
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

  async function transact<T>(work: (tx: Writer) => Promise<T>): Promise<T> {
    const outcome = await withConnection(() => tryTransaction(work)).catch((error: unknown) => {
      throw translatePostgresError(error)
    })
    if ('failure' in outcome) throw outcome.failure
    return outcome.result
  }

  return {
    dialect: 'postgres',
    tables: defineTables(postgresColumns),
    read: reader,
    readInOrder: (work) =>
      readQueue
        .run(() => withConnection(() => readOnce(work)))
        .catch((error: unknown) => {
          throw translatePostgresError(error)
        }),
    readOffThread: reader,
    vectors,
    async write(work) {
      nestingGuard.assertOutside()
      return writeQueue.run(() => transact(work))
    },
    isUniqueViolation: (error) => postgresCode(error) === '23505',
    async ping() {
      await queryOnce({ text: 'select 1' }, []).catch((error: unknown) => {
        throw translatePostgresError(error)
      })
    },
    async close() {
      if (!pool.ended && !pool.ending) await pool.end()
    },
  }
}
