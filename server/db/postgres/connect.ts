// PostgreSQL as a `Database`: a pool whose lost connections are retried within bounds and then reported clearly.
import { setTimeout as sleep } from 'node:timers/promises'
import { type NodePgClient, NodePgSession } from 'drizzle-orm/node-postgres'
import { PgDatabase, PgDialect } from 'drizzle-orm/pg-core'
import pg from 'pg'
import { AppError, errorText } from '../../errors.ts'
import { postgresColumns } from '../columns/postgres.ts'
import type {
  ConnectOptions,
  Database,
  PostgresSettings,
  Reader,
  StatementListener,
  Writer,
} from '../database.ts'
import { createNestingGuard, trusting } from '../nesting.ts'
import { bindableText, toDrizzleLogger } from '../statements.ts'
import { defineTables } from '../tables.ts'
import { preparePgvector } from '../vectors/pgvector.ts'
import { isConnectionLost, isUnanswered, postgresCode, translatePostgresError } from './errors.ts'
import { createGate } from './gate.ts'
import { migratePostgres } from './migrate.ts'
import { createSilenceWatch } from './silence.ts'

/**
 * Milliseconds. `connect`, `silence` with `probe`, and `retry` keep a response under three seconds while the database
 * is unreachable; `lock` is how long others may block us while it is healthy, `statement` how long one statement may take.
 */
const patience = {
  connect: 1_800,
  silence: 1_800,
  probe: 700,
  retry: 1_000,
  firstDelay: 25,
  lock: 10_000,
  statement: 15_000,
}

/** Retries work that failed because the connection was lost; only for work that has not changed anything yet. */
async function retrying<T>(action: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + patience.retry
  for (let delay = patience.firstDelay; ; delay *= 2) {
    try {
      return await action()
    } catch (error) {
      if (!isConnectionLost(error) || performance.now() + delay >= deadline) throw error
    }
    await sleep(delay)
  }
}

type Run = (config: pg.QueryConfig, values: unknown[]) => Promise<pg.QueryResult>

/** A drizzle database over anything that can run a statement, with our values and errors around each. */
function overQuery(run: Run, onStatement: StatementListener | undefined) {
  const query: Run = (config, values) =>
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

/** The address of a server in the driver's form. */
export const clientConfig = ({ connection }: PostgresSettings): pg.ClientConfig =>
  'url' in connection ? { connectionString: connection.url } : connection

async function vectorsOf(
  config: pg.ClientConfig,
  log: ConnectOptions['log'],
): Promise<Database['vectors']> {
  const reason = await preparePgvector(config)
  if (reason === null) return 'pgvector'
  log.warn(
    { reason },
    'PostgreSQL has no pgvector here: passages are compared by meaning one by one, which takes long in large projects.',
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
    const reason = errorText(error) || postgresCode(error)
    throw new AppError('store_unavailable', `PostgreSQL cannot be used: ${reason}`, {
      cause: error,
    })
  })

  const vectors = settings.embeddings === true ? await vectorsOf(config, log) : 'scan'

  const pool = new pg.Pool({
    ...config,
    max: poolSize,
    keepAlive: true,
    connectionTimeoutMillis: patience.connect,
    statement_timeout: patience.statement,
    lock_timeout: patience.lock,
    idle_in_transaction_session_timeout: 30_000,
    application_name: 'nanoclaw',
  })
  const noteLoss = (error: Error) =>
    log.warn({ reason: error.message }, 'A connection to PostgreSQL was lost.')
  pool.on('error', noteLoss)
  // The pool listens to idle connections only; an unhandled error of one in use would end the process.
  pool.on('connect', (client) => {
    client.on('error', noteLoss)
  })

  const answered = createSilenceWatch(config, {
    silenceMs: patience.silence,
    probeMs: patience.probe,
  })
  /** A single statement, on a connection that is abandoned if it stays silent. */
  async function queryOnce(query: pg.QueryConfig, values: unknown[]): Promise<pg.QueryResult> {
    const client = await pool.connect()
    let isBroken = false
    try {
      return await answered(client.query(query, values))
    } catch (error) {
      isBroken = isUnanswered(error)
      throw error
    } finally {
      client.release(isBroken)
    }
  }
  const nesting = refuseNestedWrites ? createNestingGuard() : trusting
  // A separate pool, so that a transaction whose work also reads outside of it cannot wait for the connection it holds.
  const writing = createGate(Math.ceil(poolSize / 2))
  const reading = createGate(Math.floor(poolSize / 2))

  /** Fails at once without a connection, and then also rejects those that wait. */
  async function connected<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await retrying(action)
    } catch (error) {
      if (isUnanswered(error)) {
        reading.turnAway()
        writing.turnAway()
      }
      throw error
    }
  }

  const reader: Reader = overQuery(
    (query, values) => reading.run(() => connected(() => queryOnce(query, values))),
    onStatement,
  )

  const writers = new WeakMap<pg.PoolClient, Writer>()
  function writerOver(client: pg.PoolClient): Writer {
    const known = writers.get(client)
    if (known !== undefined) return known
    const writer = Object.assign(
      overQuery((query, values) => answered(client.query(query, values)), onStatement),
      {
        lock: async (name: string) => {
          const text = 'select pg_advisory_xact_lock(hashtextextended($1, 0))'
          await answered(client.query(text, [name])).catch((error: unknown) => {
            throw translatePostgresError(error)
          })
        },
      },
    )
    writers.set(client, writer)
    return writer
  }

  /** A connection with an open transaction; nothing has happened in it yet, so a lost connection is retried. */
  const begin = () =>
    connected(async () => {
      const client = await pool.connect()
      try {
        await answered(client.query('begin'))
        return client
      } catch (error) {
        client.release(true)
        throw error
      }
    })

  async function transact<T>(work: (tx: Writer) => Promise<T>): Promise<T> {
    const client = await begin().catch((error: unknown) => {
      throw translatePostgresError(error)
    })
    let broken = false
    try {
      const result = await nesting.enter(() => work(writerOver(client)))
      const { command } = await answered(client.query('commit'))
      // A failed statement fails its transaction, even if the work caught the error.
      if (command !== 'COMMIT') throw new Error('A statement of the transaction had failed.')
      return result
    } catch (error) {
      const told = translatePostgresError(error)
      // A silent connection would not respond to `rollback` either.
      broken = told instanceof AppError && told.code === 'store_unavailable'
      if (!broken)
        await client.query('rollback').catch(() => {
          broken = true
        })
      throw told
    } finally {
      client.release(broken)
    }
  }

  return {
    dialect: 'postgres',
    tables: defineTables(postgresColumns),
    read: reader,
    readOffThread: reader,
    vectors,
    async write(work) {
      nesting.refuseInside()
      return writing.run(() => transact(work))
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
